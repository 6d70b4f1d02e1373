"""Checks an annotation document against the rules of ELAN's schema (EAF 3.0), and prints each tier's texts as JSON."""

import datetime
import json
import sys
import xml.etree.ElementTree as ET

root = ET.parse(sys.argv[1]).getroot()
assert root.tag == "ANNOTATION_DOCUMENT", root.tag
for name in ("AUTHOR", "DATE", "FORMAT", "VERSION"):
    assert name in root.attrib, name
datetime.datetime.fromisoformat(root.get("DATE").replace("Z", "+00:00"))

# The schema requires this order of children.
child_order = ["LICENSE", "HEADER", "TIME_ORDER", "TIER", "LINGUISTIC_TYPE", "LOCALE", "LANGUAGE", "CONSTRAINT"]
positions = [child_order.index(child.tag) for child in root]
assert positions == sorted(positions), [child.tag for child in root]
assert positions.count(1) == 1 and positions.count(2) == 1

header = root.find("HEADER")
assert header.get("TIME_UNITS") == "milliseconds"
for media in header.findall("MEDIA_DESCRIPTOR"):
    assert media.get("MEDIA_URL") and media.get("MIME_TYPE")

slots = {}
last = 0
for slot in root.find("TIME_ORDER"):
    assert slot.tag == "TIME_SLOT" and slot.get("TIME_SLOT_ID") not in slots
    time = int(slot.get("TIME_VALUE"))
    assert time >= last, "time slots are not in order"
    slots[slot.get("TIME_SLOT_ID")] = last = time

types = {kind.get("LINGUISTIC_TYPE_ID"): kind for kind in root.findall("LINGUISTIC_TYPE")}
constraints = {constraint.get("STEREOTYPE") for constraint in root.findall("CONSTRAINT")}
annotation_ids = set()
tiers = {}
for tier in root.findall("TIER"):
    kind = types[tier.get("LINGUISTIC_TYPE_REF")]
    parent = tier.get("PARENT_REF")
    assert (kind.get("CONSTRAINTS") is not None) == (parent is not None)
    assert kind.get("CONSTRAINTS") is None or kind.get("CONSTRAINTS") in constraints
    spans = []
    for annotation in tier.findall("ANNOTATION"):
        (alignable,) = annotation
        assert alignable.tag == "ALIGNABLE_ANNOTATION" and kind.get("TIME_ALIGNABLE") == "true"
        assert alignable.get("ANNOTATION_ID") not in annotation_ids
        annotation_ids.add(alignable.get("ANNOTATION_ID"))
        (value,) = alignable
        assert value.tag == "ANNOTATION_VALUE"
        span = slots[alignable.get("TIME_SLOT_REF1")], slots[alignable.get("TIME_SLOT_REF2")]
        assert span[0] < span[1], span
        assert not spans or spans[-1][1] <= span[0], "annotations on a tier overlap"
        spans.append((*span, value.text or ""))
    if parent:
        parent_spans = tiers[parent]
        for start, end, text in spans:
            assert any(first <= start and end <= last for first, last, _ in parent_spans), (start, end, "is outside all parent annotations")
    assert tier.get("TIER_ID") not in tiers, "tier names are not unique"
    tiers[tier.get("TIER_ID")] = spans
print(json.dumps({name: [text for _, _, text in spans] for name, spans in tiers.items()}))
