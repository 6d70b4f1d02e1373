"""Reads a DOCX file with python-docx, checks its package, and prints its title, page size, paragraphs and bold texts as JSON."""

import json
import posixpath
import sys
import xml.etree.ElementTree as ET
import zipfile

import docx

PACKAGE = "{http://schemas.openxmlformats.org/package/2006/%s}%s"
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"

package = zipfile.ZipFile(sys.argv[1])
assert package.testzip() is None
names = package.namelist()
assert names[0] == "[Content_Types].xml", names
assert len(set(names)) == len(names), names
roots = {name: ET.fromstring(package.read(name)) for name in names}

# Every part has a type, and every part except the .rels lists is the target of a relationship.
types = roots["[Content_Types].xml"]
overrides = [part.get("PartName")[1:] for part in types.findall(PACKAGE % ("content-types", "Override"))]
lists = [name for name in names if name.endswith(".rels")]
assert sorted(overrides + lists + names[:1]) == sorted(names), (overrides, names)
targets = []
for name in lists:
    folder = posixpath.dirname(posixpath.dirname(name))
    links = roots[name].findall(PACKAGE % ("relationships", "Relationship"))
    assert len({link.get("Id") for link in links}) == len(links)
    targets += [posixpath.join(folder, link.get("Target")) for link in links]
assert sorted(targets) == sorted(overrides), (targets, overrides)

# Every used style is defined.
defined_styles = {style.get(WORD + "styleId") for style in roots["word/styles.xml"].iter(WORD + "style")}
used_styles = {
    style.get(WORD + "val") for kind in ("pStyle", "rStyle") for style in roots["word/document.xml"].iter(WORD + kind)
}
assert used_styles and used_styles <= defined_styles, (used_styles, defined_styles)

document = docx.Document(sys.argv[1])
(section,) = document.sections
print(json.dumps({
    "title": document.core_properties.title,
    "page": [round(section.page_width.mm), round(section.page_height.mm)],
    "paragraphs": [[paragraph.style.name, paragraph.text] for paragraph in document.paragraphs],
    "bold": [run.text for paragraph in document.paragraphs for run in paragraph.runs if run.style.font.bold],
}))
