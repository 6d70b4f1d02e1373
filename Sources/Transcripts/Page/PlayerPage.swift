import Core
import System

extension TranscriptFormat {
    /// A web page that plays the audio file in its folder.
    package static let html = TranscriptFormat(
        "html", fileName: "index.html", holdsIdentity: true, renderer: playerPage)
}

func playerPage(_ timeline: Timeline, _ details: RecordingDetails) throws -> String {
    Page(
        title: details.title(of: timeline), styles: [.sharedStyle, .playerStyle], script: .playerScript,
        data: try jsonObject(PageData(timeline, details)),
        body: head(timeline, details) + player(timeline, details) + transcript(timeline)
            + foot(timeline, details), identity: details.identity, isServed: details.served != nil
    ).text
}

private func head(_ timeline: Timeline, _ details: RecordingDetails) -> String {
    var facts: [(String, String)] = []
    if let started = details.started {
        let clock = details.clock == .unverified ? #" <span class="tag">clock unverified</span>"# : ""
        let powerOn = details.powerOn.map { "; \(markup($0.text))" } ?? ""
        facts.append(("Recorded", markup(started) + clock + powerOn))
    }
    facts.append(("Length", clockTime(timeline.length)))
    if timeline.hasSeveralSpeakers, let speakers = timeline.speakers {
        let times = speakers.seconds.enumerated().filter { $1 > 0 }.map { speaker, seconds in
            // Somebody may speak only where the transcript has no words. The page can play that, too.
            let start = speakers.all.first { $0.speaker == speaker }?.range.start ?? .zero
            return chip(timeline, speaker, #" data-from="\#(milliseconds(start))""#) + "&nbsp;"
                + clockTime(SamplePosition(seconds: seconds))
        }
        facts.append(("Who spoke", times.joined(separator: ", ")))
    }
    facts += (timeline.annotations?.remarks ?? []).map { ($0.name, markup($0.text)) }
    if let transcripts = details.served?.transcripts, transcripts.count > 1 {
        let links = transcripts.map { transcript in
            let title = markup(transcript.title)
            return transcript.isShown ? title : #"<a href="\#(markup(transcript.link))">\#(title)</a>"#
        }
        facts.append(("Transcripts", links.joined(separator: " · ")))
    }
    for (name, gaps) in [
        ("Lost", timeline.gaps.filter(\.cause.isLoss)), ("Left out", timeline.gaps.filter { !$0.cause.isLoss }),
    ] {
        let samples = gaps.reduce(Int64(0)) { min(SamplePosition.maximumSamples, $0 + $1.range.count) }
        guard samples > 0 else { continue }
        let tenths = (samples * 10 + Int64(SamplePosition.rate) / 2) / Int64(SamplePosition.rate)
        let count = gaps.count == 1 ? "one gap" : "\(gaps.count) gaps"
        facts.append((name, #"<span class="tag">\#(tenths / 10).\#(tenths % 10) s in \#(count)</span>"#))
    }
    let list = { (facts: [(String, String)]) in
        "<dl class=\"facts\">\n"
            + facts.map { "<div><dt>\($0.0)</dt><dd dir=\"auto\">\($0.1)</dd></div>\n" }.joined() + "</dl>\n"
    }
    var folded: [(String, String)] = []
    if let device = details.device { folded.append(("Recorder", markup(device))) }
    let engine = [timeline.engine.name, timeline.engine.version, timeline.engine.model].filter { !$0.isEmpty }
    if !engine.isEmpty { folded.append(("Transcribed by", markup(engine.joined(separator: " ")))) }
    if let voice = Transcripts.facts(of: timeline.segments) { folded.append(("Spoken", voice)) }
    let fold = folded.isEmpty ? "" : "<details><summary>Details</summary>\n\(list(folded))</details>\n"
    let back = details.index.map { #"<p class="back"><a href="\#(markup($0))">All recordings</a></p>"# + "\n" } ?? ""
    return """
        <a class="skip" href="#text">To the transcript</a>
        <header>
        \(back)<h1 dir="auto">\(markup(details.title(of: timeline)))</h1>
        \(list(facts))\(fold)</header>

        """
}

private func player(_ timeline: Timeline, _ details: RecordingDetails) -> String {
    let canBeCorrected = details.identity != nil
    return """
        <section class="bar" id="bar" aria-label="Player"><div>
        <audio id="audio" preload="metadata" src="\(relativeLink(details.audio))"></audio>
        <div class="row">
        <button class="play" id="play" type="button" aria-label="Play" aria-keyshortcuts="Space">\
        <svg class="start" viewBox="0 0 24 24" aria-hidden="true"><path d="M7 4v16l14-8z"/></svg>\
        <svg class="pause" viewBox="0 0 24 24" aria-hidden="true"><path d="M6 4h4v16H6zM14 4h4v16h-4z"/></svg></button>
        <div class="wave"><canvas id="wave" aria-hidden="true"></canvas>\
        <input id="seek" type="range" min="0" max="\(max(1, milliseconds(timeline.length)))" step="1" value="0" aria-label="Position">\
        <span id="under" aria-hidden="true" hidden></span></div>
        <div class="clock"><span id="time">0:00</span> <span>/ \(clockTime(timeline.length))</span></div>
        <form role="search"><input id="find" type="search" placeholder="Search" aria-label="Search the transcript" \
        autocomplete="off" spellcheck="false" aria-keyshortcuts="/"><output id="hits" for="find"></output>\
        <button id="previous" type="button" aria-label="Previous hit" disabled>↑</button>\
        <button id="next" type="button" aria-label="Next hit" disabled>↓</button></form>
        \(correctingButtons(isShown: canBeCorrected))<button id="menu-button" type="button" aria-label="Menu" aria-expanded="false" \
        aria-controls="tools"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 7h16M4 12h16M4 17h16"/></svg>\
        <span>Menu</span></button>
        </div>
        <div class="row tools" id="tools">
        <label>Speed <select id="speed"><option value="0.5">½×</option><option value="0.75">¾×</option>\
        <option value="1" selected>1×</option><option value="1.25">1¼×</option><option value="1.5">1½×</option>\
        <option value="2">2×</option></select></label>
        <label><input id="shade" type="checkbox" checked> Show confidence</label>
        <label><input id="silence" type="checkbox"> Skip silence</label>
        \(speakerChoice(timeline))    <button id="download" type="button" aria-haspopup="menu">Download</button>
        <button id="help-button" type="button" aria-label="Keyboard help" aria-keyshortcuts="?">?</button>
        \(correctingTools(isShown: canBeCorrected))</div>
        \(correctingForms)<p class="trouble" id="trouble" role="alert" hidden>\(markup(details.audio)) cannot be played: \(
        details.served == nil ? "it must be in this page’s folder" : "it is missing from the copy, or damaged"). \
        The transcript is complete without it.</p>
        </div></section>
        <output class="status" id="status"></output>

        """
}

/// Returns the menu of speakers; empty if there is only one speaker.
private func speakerChoice(_ timeline: Timeline) -> String {
    guard timeline.hasSeveralSpeakers, let seconds = timeline.speakers?.seconds else { return "" }
    let options = seconds.indices.filter { seconds[$0] > 0 }.map { speaker in
        #"<option value="\#(Speakers.label(speaker))" data-who="\#(Speakers.label(speaker))">"#
            + "\(markup(oneLine(timeline.name(ofSpeaker: speaker))))</option>"
    }
    return
        #"<label>Speaker <select id="speaker"><option value="">everybody</option>\#(options.joined())</select></label>"#
        + "\n"
}

private func foot(_ timeline: Timeline, _ details: RecordingDetails) -> String {
    """
    <footer>
    \(correctingPanel(timeline, proposals: details.proposals))    <p class="keys">\(hasWords(timeline) ? "Click a word to hear it. " : "")<kbd>Space</kbd> plays, <kbd>←</kbd> <kbd>→</kbd> go 3 seconds, \
    <kbd>/</kbd> searches, <kbd>?</kbd> shows all keys.</p>
    \(hasWords(timeline) ? uncertainNote : "")\(wordsToReview(timeline))\(historyPart(details.history))</footer>
    <dialog id="help" aria-labelledby="help-title">
    <h2 id="help-title" tabindex="-1" autofocus>Keys</h2>
    <dl>
    <dt><kbd>Space</kbd></dt><dd>play, pause</dd>
    <dt><kbd>←</kbd> <kbd>→</kbd></dt><dd>3 seconds back, forward</dd>
    <dt><kbd>Shift</kbd> <kbd>←</kbd> <kbd>→</kbd></dt><dd>previous, next word</dd>
    <dt><kbd>↑</kbd> <kbd>↓</kbd></dt><dd>previous, next line</dd>
    <dt><kbd>m</kbd></dt><dd>next bookmark</dd>
    <dt><kbd>/</kbd></dt><dd>search</dd>
    <dt><kbd>n</kbd> <kbd>Shift</kbd> <kbd>n</kbd></dt><dd>next, previous hit</dd>
    <dt><kbd>Home</kbd></dt><dd>to the beginning</dd>
    <dt><kbd>+</kbd> <kbd>-</kbd></dt><dd>zoom the waveform, like the mouse wheel over it</dd>
    </dl>
    \(correctingKeys)
    <form method="dialog"><button>Close</button></form>
    </dialog>
    """
}

private func hasWords(_ timeline: Timeline) -> Bool { timeline.segments.contains { !$0.words.isEmpty } }

private let uncertainNote = """
    <p>Transcribed by a machine, which is least certain of the words with a \
    <span class="shaded"><span class="c1">dotted</span> or <span class="c0">wavy</span></span> underline.</p>

    """
