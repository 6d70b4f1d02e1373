"""Edits an ELAN document with pympi, as a person would in ELAN: appends a word to each segment.

usage: PYTHONPATH=FOLDER elan.py INPUT OUTPUT

FOLDER contains the package pympi. Prints the texts of each tier, with their times in milliseconds, as JSON.
"""

import json
import sys

import pympi

document = pympi.Elan.Eaf(sys.argv[1])
tiers = {name: sorted(document.get_annotation_data_for_tier(name)) for name in document.get_tier_names()}
print(json.dumps(tiers))
for start, end, text, *_ in tiers["segments"]:
    # pympi selects the annotation that contains the given time.
    assert document.remove_annotation("segments", (start + end) // 2) == 1
    document.add_annotation("segments", start, end, text + " zanzibarë <&>")
document.to_file(sys.argv[2])
