"""Edits an ELAN document with pympi, as a person would in ELAN: adds a word to the end of each segment.

usage: PYTHONPATH=FOLDER elan.py FROM TO

FOLDER holds the package pympi. Prints what pympi read, as JSON: the texts of each tier with their times in milliseconds.
"""

import json
import sys

import pympi

document = pympi.Elan.Eaf(sys.argv[1])
read = {name: sorted(document.get_annotation_data_for_tier(name)) for name in document.get_tier_names()}
print(json.dumps(read))
for start, end, text, *_ in read["segments"]:
    # pympi finds an annotation by a time within it.
    assert document.remove_annotation("segments", (start + end) // 2) == 1
    document.add_annotation("segments", start, end, text + " zanzibarë <&>")
document.to_file(sys.argv[2])
