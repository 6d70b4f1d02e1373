import Glibc

/// The errors for each value of a constant in each fold. For each fold, the value with the lowest rate on the other
/// folds is chosen.
struct FoldTable {
    /// The number of errors, and the number of items that were checked.
    struct Cell {
        var errors = 0.0
        var count = 0.0

        var rate: Double { errors / max(1, count) }

        static func + (left: Cell, right: Cell) -> Cell {
            Cell(errors: left.errors + right.errors, count: left.count + right.count)
        }
    }

    /// The mean and standard deviation over the folds.
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

    /// The cells by value, then by fold. The simplest value comes first.
    let cells: [[Cell]]

    private var folds: Range<Int> { 0..<(cells.first?.count ?? 0) }

    /// For each fold, the index of the chosen value; the first one if rates are equal.
    var chosenIndices: [Int] {
        folds.map { fold in
            let rates = cells.map { row in
                folds.filter { $0 != fold }.reduce(Cell()) { $0 + row[$1] }.rate
            }
            return rates.indices.min { rates[$0] < rates[$1] } ?? 0
        }
    }

    /// Returns the rate of a value in each fold.
    func rates(of value: Int) -> [Double] { cells[value].map(\.rate) }

    /// The rate of each fold with the value chosen on the others.
    var heldOutRates: [Double] { zip(chosenIndices, folds).map { cells[$0][$1].rate } }

    /// Returns the mean and the spread of the gain: by how much each fold's rate is lower than with the simplest value.
    func gain(of rates: [Double]) -> Spread { Spread(zip(self.rates(of: 0), rates).map { $0 - $1 }) }

    var gain: Spread { gain(of: heldOutRates) }

    /// Whether the simplest value is good enough: the gain does not exceed its standard deviation.
    var isBelowSpread: Bool { gain.mean <= gain.deviation }
}
