import Glibc

/// The errors of each value of a constant in each fold. For each fold, the value is chosen on the others.
struct FoldTable {
    /// A number of errors, and the number of items among which they were counted.
    struct Cell {
        var errors = 0.0
        var count = 0.0

        var rate: Double { errors / max(1, count) }

        static func + (left: Cell, right: Cell) -> Cell {
            Cell(errors: left.errors + right.errors, count: left.count + right.count)
        }
    }

    /// A mean over the folds with the standard deviation.
    struct Spread {
        var mean: Double
        var deviation: Double

        init(_ values: [Double]) {
            let mean = values.reduce(0, +) / Double(max(1, values.count))
            let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
            self.mean = mean
            deviation = (squares / Double(max(1, values.count - 1))).squareRoot()
        }
    }

    /// The cells by value, the simplest first, and by fold.
    let cells: [[Cell]]

    private var folds: Range<Int> { 0..<(cells.first?.count ?? 0) }

    /// For each fold, the value with the lowest rate on all others together; of equal ones, the first.
    var chosen: [Int] {
        folds.map { fold in
            let rates = cells.map { row in
                folds.filter { $0 != fold }.reduce(Cell()) { $0 + row[$1] }.rate
            }
            return rates.indices.min { rates[$0] < rates[$1] } ?? 0
        }
    }

    /// Returns one for each fold.
    func rates(of value: Int) -> [Double] { cells[value].map(\.rate) }

    /// The rate of each fold with the value chosen on the others.
    var told: [Double] { zip(chosen, folds).map { cells[$0][$1].rate } }

    /// Returns how much lower rates are than those of the simplest value, fold by fold.
    func gain(of rates: [Double]) -> Spread { Spread(zip(self.rates(of: 0), rates).map { $0 - $1 }) }

    var gain: Spread { gain(of: told) }

    /// Whether the simplest value will do: the gain is not above its standard deviation.
    var isBelowSpread: Bool { gain.mean <= gain.deviation }
}
