# SPDX-License-Identifier: MIT
"""The numbers of docs/times.md, computed a second time, slowly, from the raw records of a log.

Plain Python that shares no code with skbviewer: only the generated layout of the records is read,
as a file.  `slots` reads records, `calls` makes calls of them, `spent` says where the time of a
leg went.
"""
