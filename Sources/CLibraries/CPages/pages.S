// The files listed in CPages.h, each as text with a terminating zero byte. They are in the header search paths that
// Package.swift sets. SwiftPM's own embedding would create array literals, which take 20 s to compile.

// This check also triggers a rebuild when a file changes.
#if !(__has_include("shared.css") && __has_include("player.css") && __has_include("words.js") \
    && __has_include("player.js") && __has_include("editor.js") && __has_include("storage.js") \
    && __has_include("annotations.js") && __has_include("downloads.js") && __has_include("startup.js") \
    && __has_include("bridge.js") && __has_include("index.css") && __has_include("index.js") \
    && __has_include("served.css") && __has_include("adding.js"))
#error "a style or script of the pages is missing"
#endif

    .section .rodata, "a"
.macro page name, file
    .globl page_\name\()_text
page_\name\()_text:
    .incbin "\file"
    .byte 0
.endm

    page shared_css, "shared.css"
    page player_css, "player.css"
    page words_js, "words.js"
    page player_js, "player.js"
    page editor_js, "editor.js"
    page storage_js, "storage.js"
    page annotations_js, "annotations.js"
    page downloads_js, "downloads.js"
    page startup_js, "startup.js"
    page bridge_js, "bridge.js"
    page index_css, "index.css"
    page index_js, "index.js"
    page served_css, "served.css"
    page adding_js, "adding.js"

    .section .note.GNU-stack, "", @progbits
