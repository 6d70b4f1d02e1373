// The files that CPages.h names, each as text that ends with a zero byte. Package.swift has the folders. Swift's own embedding makes
// an array literal of them, which takes 20 s to compile.

// Also makes an edited file a reason to build again.
#if !(__has_include("shared.css") && __has_include("player.css") && __has_include("words.js") \
    && __has_include("player.js") && __has_include("editor.js") && __has_include("keeping.js") \
    && __has_include("places.js") && __has_include("writing.js") && __has_include("arriving.js") \
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
    page keeping_js, "keeping.js"
    page places_js, "places.js"
    page writing_js, "writing.js"
    page arriving_js, "arriving.js"
    page bridge_js, "bridge.js"
    page index_css, "index.css"
    page index_js, "index.js"
    page served_css, "served.css"
    page adding_js, "adding.js"

    .section .note.GNU-stack, "", @progbits
