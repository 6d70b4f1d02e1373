/// An SVG plot of word errors over CPU time, with a dot for each contender, for light and dark pages.
struct Plot {
    private static let size = (width: 640.0, height: 360.0)
    private static let margin = (left: 64.0, right: 24.0, top: 24.0, bottom: 52.0)

    let results: [AccuracyBenchmark.Result]

    var svg: String {
        let maximumCPU = (results.map(\.timesRealTime).max() ?? 1) * 1.15
        let errors = results.map(\.overall)
        let lowest = ((errors.min() ?? 0) / 5).rounded(.down) * 5 - 5
        let highest = ((errors.max() ?? 100) / 5).rounded(.up) * 5
        let (width, height) = Self.size
        let (left, right, top, bottom) = Self.margin
        func x(_ value: Double) -> Double { left + value / maximumCPU * (width - left - right) }
        func y(_ value: Double) -> Double { top + (highest - value) / (highest - lowest) * (height - top - bottom) }

        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(formatted(width, 0)) \(formatted(height, 0))" \
            font-family="sans-serif" font-size="13" role="img" aria-label="Word errors over CPU">
            <style>text{fill:#555}line{stroke:#999;stroke-width:1}.grid{stroke-opacity:.3}.ours{fill:#2563eb}\
            .peer{fill:#b45309}@media(prefers-color-scheme:dark){text{fill:#bbb}.ours{fill:#60a5fa}\
            .peer{fill:#fbbf24}}</style>
            """
        ]
        for value in stride(from: lowest, through: highest, by: 5) {
            parts.append(line(x(0), y(value), width - right, y(value), "grid"))
            parts.append(text(left - 10, y(value) + 4, formatted(value, 0), anchor: "end"))
        }
        for value in stride(from: 0, through: maximumCPU, by: maximumCPU > 1 ? 0.2 : 0.1) {
            parts.append(line(x(value), y(lowest), x(value), y(lowest) + 5))
            parts.append(text(x(value), y(lowest) + 20, formatted(value, 1), anchor: "middle"))
        }
        parts.append(line(x(0), y(lowest), width - right, y(lowest)))
        parts.append(text(width - right, height - 8, "CPU seconds per second of audio", anchor: "end"))
        parts.append(text(left, 14, "word errors, %", anchor: "start"))
        for result in results {
            let kind = Contender.peers.map(\.name).contains(result.name) ? "peer" : "ours"
            let (cx, cy) = (x(result.timesRealTime), y(result.overall))
            parts.append("<circle class=\"\(kind)\" cx=\"\(formatted(cx, 1))\" cy=\"\(formatted(cy, 1))\" r=\"6\"/>")
            let isRight = cx > width * 0.5
            parts.append(
                text(
                    isRight ? cx - 12 : cx + 12, cy + 4, "\(result.name) \(formatted(result.overall, 1))",
                    anchor: isRight ? "end" : "start"))
        }
        return parts.joined(separator: "\n") + "\n</svg>\n"
    }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ kind: String = "axis") -> String {
        "<line class=\"\(kind)\" x1=\"\(formatted(x1, 1))\" y1=\"\(formatted(y1, 1))\" x2=\"\(formatted(x2, 1))\" "
            + "y2=\"\(formatted(y2, 1))\"/>"
    }

    private func text(_ x: Double, _ y: Double, _ text: String, anchor: String) -> String {
        "<text x=\"\(formatted(x, 1))\" y=\"\(formatted(y, 1))\" text-anchor=\"\(anchor)\">\(text)</text>"
    }
}
