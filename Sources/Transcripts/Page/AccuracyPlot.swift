import Core

/// The accuracy of one pass in the plot.
package struct PlottedReading: Hashable, Sendable {
    var recording: Int
    var title: String
    /// The engine and profile: `moonshine final`.
    var engine: String
    /// The word error rate of the whole text in percent, if everything unchanged is right.
    var whole: Double
    /// The word error rate of changed or confirmed lines, in percent.
    var heard: Double

    package init(recording: Int, title: String, engine: String, whole: Double, heard: Double) {
        self.recording = recording
        self.title = title
        self.engine = engine
        self.whole = whole
        self.heard = heard
    }
}

/// Plots word errors over time as SVG, a sign per pass, with a table; empty without passes.
struct AccuracyPlot {
    private static let size = (width: 640, height: 220)
    private static let margin = (left: 44, right: 12, top: 14, bottom: 26)
    /// Engines differ by sign, not by colour alone.
    private static let signs = 4
    /// The most recordings: the latest.
    private static let limit = 60
    /// The earliest recording first, those of one recording together.
    private let readings: [PlottedReading]
    private let recordings: [(id: Int, title: String)]
    private let engines: [String]
    private let top: Double

    /// - Parameter readings: In the order of recordings, oldest first.
    init(_ readings: [PlottedReading]) {
        var recordings: [(id: Int, title: String)] = []
        for reading in readings where recordings.last?.id != reading.recording {
            recordings.append((reading.recording, reading.title))
        }
        recordings = recordings.suffix(Self.limit)
        let shown = Set(recordings.map(\.id))
        self.readings = readings.filter { shown.contains($0.recording) }
        self.recordings = recordings
        engines = Set(self.readings.map(\.engine)).sorted()
        let most = self.readings.map { max($0.whole, $0.heard) }.max() ?? 0
        top = min(100, max(10, (most / 10).rounded(.up) * 10))
    }

    /// A figure for a page's body.
    var markup: String {
        if readings.isEmpty { return "" }
        let legend = engines.enumerated().map { index, engine in
            #"<span><svg viewBox="-7 -7 14 14" aria-hidden="true">\#(sign(index, 0, 0))</svg> "#
                + "\(Transcripts.markup(engine))</span>"
        }
        let rows = readings.map { reading in
            #"<tr><td dir="auto">\#(Transcripts.markup(reading.title))</td><td>\#(Transcripts.markup(reading.engine))</td>"#
                + "<td>\(tenths(reading.whole))</td><td>\(tenths(reading.heard))</td></tr>\n"
        }
        return """
            <figure class="accuracy">
            <h2>Accuracy of recordings</h2>
            <p class="legend">\(legend.joined(separator: " "))</p>
            \(svg)
            <figcaption>Words wrong, in per cent, of each recording that somebody has corrected, the latest on the right. A sign \
            counts what nobody has changed as right; its line reaches to the errors in what was changed or confirmed. \
            The truth lies between.</figcaption>
            <details><summary>As a table</summary>
            <table><thead><tr><th>Recording</th><th>Transcribed by</th><th>Of all words, %</th><th>Of checked lines, %</th></tr></thead>
            <tbody>
            \(rows.joined())</tbody></table></details>
            </figure>

            """
    }

    private var svg: String {
        let (width, height) = Self.size
        let (left, right) = (Self.margin.left, Self.margin.right)
        var parts = [
            #"<svg class="plot" viewBox="0 0 \#(width) \#(height)" role="img" "#
                + #"aria-label="Word errors over time; the table below has the numbers">"#
        ]
        for value in stride(from: 0, through: top, by: top > 50 ? 20 : top > 20 ? 10 : 5) {
            parts.append(line(Double(left), y(value), Double(width - right), y(value), "grid"))
            parts.append(text(Double(left - 8), y(value) + 4, "\(Int(value)) %", "end"))
        }
        let last = recordings.count - 1
        for (index, recording) in recordings.enumerated() where index == 0 || index == last {
            let anchor = last == 0 ? "middle" : index == 0 ? "start" : "end"
            let place = last == 0 ? x(0) : index == 0 ? Double(left) : Double(width - right)
            parts.append(text(place, Double(height - 8), String(recording.title.prefix(40)), anchor))
        }
        for reading in readings {
            guard let place = recordings.firstIndex(where: { $0.id == reading.recording }),
                let engine = engines.firstIndex(of: reading.engine)
            else { continue }
            // Engines stand beside each other.
            let beside = Double(engine * 2 - engines.count + 1) * 4
            let (at, low, high) = (x(place) + beside, y(reading.whole), y(reading.heard))
            let told = "\(reading.title), \(reading.engine): \(tenths(reading.whole)) to \(tenths(reading.heard)) %"
            parts.append(
                "<g><title>\(Transcripts.markup(told))</title>\(line(at, low, at, high, "span e\(engine % Self.signs)"))"
                    + "\(sign(engine, at, low))</g>")
        }
        return (parts + ["</svg>"]).joined(separator: "\n")
    }

    private func x(_ place: Int) -> Double {
        let (from, to) = (Double(Self.margin.left), Double(Self.size.width - Self.margin.right))
        return from + (Double(place) + 0.5) * (to - from) / Double(recordings.count)
    }

    private func y(_ percent: Double) -> Double {
        let (above, below) = (Double(Self.margin.top), Double(Self.size.height - Self.margin.bottom))
        return below - min(top, max(0, percent)) / top * (below - above)
    }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ kind: String) -> String {
        #"<line class="\#(kind)" x1="\#(tenths(x1))" y1="\#(tenths(y1))" x2="\#(tenths(x2))" y2="\#(tenths(y2))"/>"#
    }

    private func text(_ x: Double, _ y: Double, _ text: String, _ anchor: String) -> String {
        #"<text x="\#(tenths(x))" y="\#(tenths(y))" text-anchor="\#(anchor)">\#(Transcripts.markup(text))</text>"#
    }

    /// A circle, a square, a diamond or a triangle.
    private func sign(_ engine: Int, _ x: Double, _ y: Double) -> String {
        let kind = engine % Self.signs
        let points: [(Double, Double)] =
            switch kind {
            case 0: []
            case 1: [(-4, -4), (4, -4), (4, 4), (-4, 4)]
            case 2: [(0, -6), (6, 0), (0, 6), (-6, 0)]
            default: [(0, -5), (5, 4), (-5, 4)]
            }
        if points.isEmpty { return #"<circle class="e0" cx="\#(tenths(x))" cy="\#(tenths(y))" r="5"/>"# }
        let place = points.map { "\(tenths(x + $0.0)),\(tenths(y + $0.1))" }.joined(separator: " ")
        return #"<polygon class="e\#(kind)" points="\#(place)"/>"#
    }

    /// Formats with one decimal, equally on every machine.
    private func tenths(_ number: Double) -> String {
        let tenths = Int(nearest: number * 10)
        let sign = tenths < 0 ? "-" : ""
        return "\(sign)\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}
