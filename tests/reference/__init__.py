# SPDX-License-Identifier: MIT
"""The numbers of docs/times.md, computed a second time, slowly, from the raw records of a log.

Plain Python that shares no code with skbviewer: only the generated layout of the records is read,
as a file (`layout`).  `slots` reads records, `calls` makes calls of them, `lifetimes` packets,
`passes` legs; `spent` says where the time of a leg went, `packet_times` that of a packet.  `rows`,
`path_output`, `path_xml`, `statistics`, `tables`, `event_pairs` and `conversations` have it as the
session's tables and the commands should show it.  `compare`, `outputs`, `profiles`, `clocks`,
`window_texts` and `tips` compare.
"""
