# SPDX-License-Identifier: MIT
"""Datasets: the tables of many sessions as one folder of Parquet files (docs/datasets.md)."""
