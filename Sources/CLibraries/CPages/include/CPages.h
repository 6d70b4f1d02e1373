// The styles and scripts of the web pages, which pages.S embeds.
#pragma once

#define PAGE_FILE(name)                                                                                                \
    static inline const char *page_##name(void) {                                                                      \
        extern const char page_##name##_text[];                                                                        \
        return page_##name##_text;                                                                                     \
    }

PAGE_FILE(shared_css)
PAGE_FILE(player_css)
PAGE_FILE(words_js)
PAGE_FILE(player_js)
PAGE_FILE(editor_js)
PAGE_FILE(storage_js)
PAGE_FILE(annotations_js)
PAGE_FILE(downloads_js)
PAGE_FILE(startup_js)
PAGE_FILE(bridge_js)
PAGE_FILE(index_css)
PAGE_FILE(index_js)
PAGE_FILE(served_css)
PAGE_FILE(adding_js)
