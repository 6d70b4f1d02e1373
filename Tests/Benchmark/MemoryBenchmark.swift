/// Measures the memory of one decode worker, and of two workers, which share the pages of the model.
struct MemoryBenchmark {
    /// All values are in megabytes.
    struct Result {
        /// Peak resident memory of one worker, including shared pages.
        var worker: Double
        /// One worker, or two together, counting shared pages once.
        var one: Double
        var two: Double
        /// The program together with one or two workers.
        var all: (one: Double, two: Double)

        var ratio: Double { two / one }
    }

    let harness: Harness
    let corpus: Corpus

    func run(_ contenders: [Contender]) throws {
        var table = Table(
            "memory, MB", "worker's peak", "one worker", "two workers together", "ratio", "with the program: one",
            "two", "ratio")
        for contender in contenders where !contender.isPeer {
            let memory = try measure(contender)
            table.add([
                contender.name, shown(memory.worker, 0), shown(memory.one, 0), shown(memory.two, 0),
                shown(memory.ratio, 2), shown(memory.all.one, 0), shown(memory.all.two, 0),
                shown(memory.all.two / memory.all.one, 2),
            ])
        }
        print(table.markdown)
    }

    /// Measures the memory while one reader's files are transcribed.
    func measure(_ contender: Contender) throws -> Result {
        let paths = corpus.items.filter { $0.group == "lj" }.map(\.path)
        let costs = try [1, 2].map { jobs in
            try harness.transcribe(
                paths, by: contender, jobs: jobs, into: "memory-\(contender.name)", samplingMemory: true
            ).cost
        }
        return Result(
            worker: max(costs[0].peakWorkerMegabytes, costs[1].peakWorkerMegabytes),
            one: costs[0].peakWorkersMegabytes, two: costs[1].peakWorkersMegabytes,
            all: (costs[0].peakTogetherMegabytes, costs[1].peakTogetherMegabytes))
    }
}
