# SPDX-License-Identifier: MIT
"""All fields of display filters, columns and sorting, by their names."""

from __future__ import annotations

from .checksum_fields import CHECKSUM_FIELDS
from .control_protocol_fields import CONTROL_FIELDS
from .field_definition import Field
from .frame_fields import FRAME_FIELDS
from .kbl_lost_field import LOST_FIELDS
from .kbl_path_field import PATH_FIELDS
from .kernel_fields import KERNEL_FIELDS
from .packet_byte_fields import BYTE_FIELDS
from .packet_fields import PACKET_FIELDS
from .stream_fields import STREAM_FIELDS
from .tcp_analysis import ANALYSIS_FIELDS

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
        *PATH_FIELDS,
        *LOST_FIELDS,
    )
}
