/// The pages' looks: paper and ink by day, the reverse by night, and as print.
enum PageStyle {
    /// What the player page and the index share.
    static let text = #"""

        :root {
          color-scheme: light dark;
          --paper: #fbfaf7; --card: #ffffff; --line: #e3dfd6; --ink: #22252a; --soft: #5c5f66;
          --c2: #454950; --c1: #575b62; --c0: #63676e;
          --accent: #0b655d; --on-accent: #ffffff; --now: #cdeae4; --hit: #ffe79a; --hit-now: #ffc233;
          --warn: #8a3b12; --warn-paper: #fbeee2; --mark: #6a3fa0; --mark-paper: #f1eafa; --wave: #a9b4b2;
          --serif: "Iowan Old Style", "Charter", "Source Serif 4", "Noto Serif", "Palatino Linotype", Georgia, serif;
          --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #16181b; --card: #1d2024; --line: #33373d; --ink: #e9e6df; --soft: #a3a6ab;
            --c2: #c3c2bd; --c1: #aeaeab; --c0: #9d9e9d;
            --accent: #74cfc2; --on-accent: #10211f; --now: #1f4f49; --hit: #5a4a12; --hit-now: #735800;
            --warn: #f0a97c; --warn-paper: #33241a; --mark: #c9a9f2; --mark-paper: #2a2138; --wave: #566361;
          }
        }
        * { box-sizing: border-box; }
        html { scroll-padding-top: 10rem; }
        body {
          margin: 0; background: var(--paper); color: var(--ink);
          font: 1rem/1.5 var(--sans); -webkit-text-size-adjust: 100%; text-size-adjust: 100%;
        }
        body > header, body > main, body > footer, .bar > div { max-width: 50rem; margin: 0 auto; padding: 0 1.25rem; }
        body > header { padding-top: 2.5rem; padding-bottom: 1.25rem; }
        h1 { font: 600 1.9rem/1.2 var(--serif); letter-spacing: -.01em; margin: 0 0 .5rem; overflow-wrap: anywhere; }
        a { color: var(--accent); text-underline-offset: .2em; }
        .back { margin: 0 0 1.25rem; font-size: .9rem; }
        .skip { position: absolute; left: -100vw; }
        .skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .5rem .75rem; z-index: 9; }
        .facts { display: flex; flex-wrap: wrap; gap: .25rem 1.75rem; margin: 0; font-size: .9rem; }
        .facts div { display: flex; gap: .5em; min-width: 0; }
        .facts dt { color: var(--soft); }
        .facts dd { margin: 0; overflow-wrap: anywhere; }
        .tag { color: var(--warn); background: var(--warn-paper); border-radius: .3rem; padding: .05rem .4rem; }
        .bar {
          position: sticky; top: 0; z-index: 5; background: var(--paper);
          border-block: 1px solid var(--line); padding: .75rem 0;
        }
        .row { display: flex; flex-wrap: wrap; align-items: center; gap: .6rem .9rem; }
        button, select, input[type=search] {
          font: inherit; font-size: .9rem; color: var(--ink); background: var(--card);
          border: 1px solid var(--line); border-radius: .5rem; padding: .35rem .65rem; min-height: 2.25rem;
        }
        button { cursor: pointer; }
        button:hover:not(:disabled), select:hover { border-color: var(--accent); }
        button:disabled { color: var(--soft); cursor: default; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        [role=search] { display: flex; flex: 1 1 16rem; gap: .4rem; align-items: center; min-width: 0; margin: 0; }
        [role=search] input { flex: 1 1 8rem; min-width: 0; }
        output { font-size: .85rem; color: var(--soft); white-space: nowrap; font-variant-numeric: tabular-nums; }
        label { font-size: .9rem; display: inline-flex; align-items: center; gap: .4rem; }
        input[type=checkbox] { accent-color: var(--accent); width: 1rem; height: 1rem; margin: 0; }
        footer {
          color: var(--soft); font-size: .85rem; padding-top: 1.25rem !important; padding-bottom: 3rem !important;
          overflow-wrap: anywhere;
        }
        .hit { background: var(--hit); border-radius: .2em; box-shadow: 0 0 0 .1em var(--hit); }
        [hidden] { display: none !important; }
        @media print {
          :root {
            color-scheme: light; --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb;
            --warn: #000; --warn-paper: #fff; --mark: #000; --mark-paper: #fff; --accent: #000; --now: transparent;
            --hit: transparent; --hit-now: transparent; --c2: #333; --c1: #444; --c0: #555;
          }
          .bar, .back, .skip, dialog { display: none !important; }
          body { font-size: 10.5pt; }
          body > header { padding-top: 0; }
          body > header, body > main, body > footer { max-width: none; padding-inline: 0; }
          a { text-decoration: none; }
        }

        """#

    /// The transcript and its player.
    static let player = #"""

        .play {
          width: 3rem; height: 3rem; border-radius: 50%; border: 0; padding: 0; flex: none;
          background: var(--accent); color: var(--on-accent); display: grid; place-items: center;
        }
        .play:disabled { color: var(--on-accent); opacity: .55; }
        .play svg { width: 1.25rem; height: 1.25rem; fill: currentColor; }
        .play .pause, .playing .play .start { display: none; }
        .playing .play .pause { display: block; }
        .clock { font-size: .9rem; font-variant-numeric: tabular-nums; white-space: nowrap; flex: none; }
        .clock span + span { color: var(--soft); }
        .wave { position: relative; flex: 1 1 12rem; height: 3rem; min-width: 0; }
        .wave canvas { position: absolute; inset: 0; width: 100%; height: 100%; }
        .wave input {
          position: absolute; inset: 0; width: 100%; height: 100%; margin: 0; cursor: pointer;
          appearance: none; -webkit-appearance: none; background: transparent; border-radius: .3rem;
        }
        .wave input::-webkit-slider-thumb { -webkit-appearance: none; width: 1px; height: 3rem; opacity: 0; }
        .wave input::-moz-range-thumb { width: 1px; height: 3rem; border: 0; opacity: 0; }
        .wave input::-moz-range-track { background: transparent; }
        .tools { margin-top: .65rem; }
        .trouble { margin: .65rem 0 0; padding: .5rem .75rem; border-radius: .5rem; color: var(--warn);
          background: var(--warn-paper); font-size: .9rem; }
        main { padding-top: 1.5rem !important; }
        .s {
          display: grid; grid-template-columns: 3.5rem minmax(0, 1fr); gap: 0 1rem; margin: 0;
          padding: .4rem 0 .4rem calc(.75rem - 3px); margin-left: -.75rem; border-left: 3px solid transparent;
          content-visibility: auto; contain-intrinsic-size: auto 3.2rem;
        }
        .s.on { border-left-color: var(--accent); }
        .t {
          font-size: .82rem; line-height: 1.9rem; color: var(--soft); text-decoration: none;
          font-variant-numeric: tabular-nums;
        }
        .t:hover { color: var(--accent); text-decoration: underline; }
        .x { font: 1.14rem/1.65 var(--serif); overflow-wrap: anywhere; }
        .w { cursor: pointer; border-radius: .2em; }
        .i, .mark, .gap, h1, dd { unicode-bidi: isolate; }
        .w:hover { background: var(--line); }
        .shaded .c2 { color: var(--c2); }
        .shaded .c1 { color: var(--c1); text-decoration: underline dotted 1px; text-underline-offset: .22em; }
        .shaded .c0 { color: var(--c0); text-decoration: underline wavy 1px; text-underline-offset: .22em; }
        .w.hit { background: var(--hit); box-shadow: 0 0 0 .1em var(--hit); }
        .w.hit.at { background: var(--hit-now); box-shadow: 0 0 0 .1em var(--hit-now); }
        .w.on { background: var(--now); box-shadow: 0 0 0 .12em var(--now); color: var(--ink); }
        .gap, .mark, .none { font: 500 .88rem/1.5 var(--sans); }
        .gap { color: var(--warn); background: var(--warn-paper); border-radius: .35rem; padding: .15rem .5rem; }
        .mark { color: var(--mark); background: var(--mark-paper); border-radius: .35rem; padding: .15rem .5rem; }
        .none { color: var(--soft); font-style: italic; }
        .empty { color: var(--soft); font: italic 1.14rem/1.65 var(--serif); }
        .keys { font-size: .85rem; color: var(--soft); margin: 0; }
        kbd {
          font: .8rem/1 var(--sans); border: 1px solid var(--line); border-bottom-width: 2px; border-radius: .3rem;
          padding: .15rem .4rem; background: var(--card); color: var(--ink); white-space: nowrap;
        }
        dialog {
          border: 1px solid var(--line); border-radius: .8rem; padding: 1.5rem; background: var(--card);
          color: var(--ink); max-width: min(30rem, calc(100vw - 2rem));
        }
        dialog::backdrop { background: rgb(0 0 0 / .45); }
        dialog h2 { font: 600 1.3rem/1.2 var(--serif); margin: 0 0 1rem; }
        dialog dl { display: grid; grid-template-columns: auto 1fr; gap: .55rem 1.1rem; margin: 0 0 1.25rem; }
        dialog dd { margin: 0; }
        @media (max-width: 36rem) {
          html { scroll-padding-top: 13rem; }
          body > header { padding-top: 1.5rem; }
          h1 { font-size: 1.5rem; }
          .s { grid-template-columns: minmax(0, 1fr); }
          .t { line-height: 1.4; justify-self: start; }
          .wave { flex-basis: 8rem; }
          .keys { display: none; }
        }
        @media (prefers-reduced-motion: no-preference) {
          .w, .s { transition: background-color .12s, border-color .12s; }
        }
        @media print {
          .s { content-visibility: visible; break-inside: avoid; border: 0; padding: .15rem 0; margin: 0; }
          .keys { display: none; }
          .gap, .mark { border: 1px solid #888; }
        }

        """#

    /// The list of recordings.
    static let index = #"""

        .list { list-style: none; margin: 0; padding: 0; }
        .list li { border-bottom: 1px solid var(--line); padding: 1.1rem 0; }
        .list a { font: 600 1.2rem/1.3 var(--serif); text-decoration: none; overflow-wrap: anywhere; }
        .list a:hover { text-decoration: underline; }
        .about { margin: .2rem 0 0; font-size: .88rem; color: var(--soft); display: flex; flex-wrap: wrap;
          gap: .15rem 1rem; font-variant-numeric: tabular-nums; }
        .words { margin: .45rem 0 0; font: 1.02rem/1.55 var(--serif); overflow-wrap: anywhere; }
        h2 { font: 600 1rem/1.4 var(--sans); color: var(--soft); margin: 2rem 0 0; }
        mark { color: inherit; }
        html { scroll-padding-top: 6rem; }
        @media print { .list li { break-inside: avoid; } }

        """#
}
