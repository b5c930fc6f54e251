# SPDX-License-Identifier: MIT
"""All fields of display filters, columns and sorting, by name."""

from __future__ import annotations

from .fields_analysis import ANALYSIS_FIELDS
from .fields_bytes import BYTE_FIELDS
from .fields_checksum import CHECKSUM_FIELDS
from .fields_control import CONTROL_FIELDS
from .fields_frame import FRAME_FIELDS
from .fields_kernel import KERNEL_FIELDS
from .fields_kind import Field
from .fields_packet import PACKET_FIELDS
from .fields_streams import STREAM_FIELDS

__all__ = ["FIELDS", "Field"]

FIELDS: dict[str, Field] = {
    field.name: field
    for field in (
        *FRAME_FIELDS,
        *PACKET_FIELDS,
        *BYTE_FIELDS,
        *CHECKSUM_FIELDS,
        *CONTROL_FIELDS,
        *STREAM_FIELDS,
        *ANALYSIS_FIELDS,
        *KERNEL_FIELDS,
    )
}
