import Core

/// The accuracy of one pass in the plot.
package struct PlottedPass: Hashable, Sendable {
    var recording: Int
    var title: String
    /// The engine and profile, such as `moonshine final`.
    var engine: String
    /// The word error rate of the whole transcript in percent, assuming that unchanged words are right.
    var whole: Double
    /// The word error rate of changed or confirmed lines, in percent.
    var checked: Double

    package init(recording: Int, title: String, engine: String, whole: Double, checked: Double) {
        self.recording = recording
        self.title = title
        self.engine = engine
        self.whole = whole
        self.checked = checked
    }
}

/// Plots word error rates over time as SVG, with a symbol for each pass and with a table.
struct AccuracyPlot {
    private static let size = (width: 640, height: 220)
    private static let margin = (left: 44, right: 12, top: 14, bottom: 26)
    /// Engines have different symbols, so that they can be told apart without colours.
    private static let symbolCount = 4
    /// The maximum number of recordings; only the latest are plotted.
    private static let maxRecordings = 60
    private let passes: [PlottedPass]
    private let recordings: [(id: Int, title: String)]
    private let engines: [String]
    private let top: Double

    /// - Parameter passes: The oldest recording's passes come first. The passes of a recording are adjacent.
    init(_ passes: [PlottedPass]) {
        var recordings: [(id: Int, title: String)] = []
        for pass in passes where recordings.last?.id != pass.recording {
            recordings.append((pass.recording, pass.title))
        }
        recordings = recordings.suffix(Self.maxRecordings)
        let plottedRecordings = Set(recordings.map(\.id))
        self.passes = passes.filter { plottedRecordings.contains($0.recording) }
        self.recordings = recordings
        engines = Set(self.passes.map(\.engine)).sorted()
        let highestRate = self.passes.map { max($0.whole, $0.checked) }.max() ?? 0
        top = min(100, max(10, (highestRate / 10).rounded(.up) * 10))
    }

    /// The figure as HTML; empty if there is no pass.
    var markup: String {
        if passes.isEmpty { return "" }
        let legend = engines.enumerated().map { index, engine in
            #"<span><svg viewBox="-7 -7 14 14" aria-hidden="true">\#(symbol(index, 0, 0))</svg> "#
                + "\(Transcripts.markup(engine))</span>"
        }
        let rows = passes.map { pass in
            #"<tr><td dir="auto">\#(Transcripts.markup(pass.title))</td><td>\#(Transcripts.markup(pass.engine))</td>"#
                + "<td>\(tenths(pass.whole))</td><td>\(tenths(pass.checked))</td></tr>\n"
        }
        return """
            <figure class="accuracy">
            <h2>Accuracy of recordings</h2>
            <p class="legend">\(legend.joined(separator: " "))</p>
            \(svg)
            <figcaption>The percentage of wrong words in each recording that somebody has corrected, the latest on the \
            right. A symbol shows the rate if all unchanged words are right. The bar from it extends to the rate in \
            the lines that somebody changed or confirmed. The true rate is in between.</figcaption>
            <details><summary>As a table</summary>
            <table><thead><tr><th>Recording</th><th>Transcribed by</th><th>All words, %</th><th>Checked lines, %</th></tr></thead>
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
            let position = last == 0 ? x(0) : index == 0 ? Double(left) : Double(width - right)
            parts.append(text(position, Double(height - 8), String(recording.title.prefix(40)), anchor))
        }
        for pass in passes {
            guard let index = recordings.firstIndex(where: { $0.id == pass.recording }),
                let engine = engines.firstIndex(of: pass.engine)
            else { continue }
            // A recording's engines are side by side.
            let offset = Double(engine * 2 - engines.count + 1) * 4
            let (centre, low, high) = (x(index) + offset, y(pass.whole), y(pass.checked))
            let rates = "\(tenths(pass.whole)) to \(tenths(pass.checked)) %"
            let tooltip = "\(pass.title), \(pass.engine): \(rates)"
            let span = line(centre, low, centre, high, "span e\(engine % Self.symbolCount)")
            parts.append(
                "<g><title>\(Transcripts.markup(tooltip))</title>\(span)\(symbol(engine, centre, low))</g>")
        }
        return (parts + ["</svg>"]).joined(separator: "\n")
    }

    /// Returns the x coordinate of the recording at an index.
    private func x(_ index: Int) -> Double {
        let (left, right) = (Double(Self.margin.left), Double(Self.size.width - Self.margin.right))
        return left + (Double(index) + 0.5) * (right - left) / Double(recordings.count)
    }

    private func y(_ percent: Double) -> Double {
        let (upper, lower) = (Double(Self.margin.top), Double(Self.size.height - Self.margin.bottom))
        return lower - min(top, max(0, percent)) / top * (lower - upper)
    }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ kind: String) -> String {
        #"<line class="\#(kind)" x1="\#(tenths(x1))" y1="\#(tenths(y1))" x2="\#(tenths(x2))" y2="\#(tenths(y2))"/>"#
    }

    private func text(_ x: Double, _ y: Double, _ text: String, _ anchor: String) -> String {
        #"<text x="\#(tenths(x))" y="\#(tenths(y))" text-anchor="\#(anchor)">\#(Transcripts.markup(text))</text>"#
    }

    /// Returns an engine's symbol: a circle, a square, a diamond or a triangle.
    private func symbol(_ engine: Int, _ x: Double, _ y: Double) -> String {
        let kind = engine % Self.symbolCount
        let points: [(Double, Double)] =
            switch kind {
            case 0: []
            case 1: [(-4, -4), (4, -4), (4, 4), (-4, 4)]
            case 2: [(0, -6), (6, 0), (0, 6), (-6, 0)]
            default: [(0, -5), (5, 4), (-5, 4)]
            }
        if points.isEmpty { return #"<circle class="e0" cx="\#(tenths(x))" cy="\#(tenths(y))" r="5"/>"# }
        let corners = points.map { "\(tenths(x + $0.0)),\(tenths(y + $0.1))" }.joined(separator: " ")
        return #"<polygon class="e\#(kind)" points="\#(corners)"/>"#
    }

    /// Formats a number with one decimal, identically on every machine.
    private func tenths(_ number: Double) -> String {
        let tenths = Int(nearest: number * 10)
        let sign = tenths < 0 ? "-" : ""
        return "\(sign)\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}
