/// The memory of decode workers: of one, and of two that share what they loaded.
struct MemoryBenchmark {
    /// Memory in megabytes.
    struct Result {
        /// The peak of one worker, including shared pages.
        var worker: Double
        /// The worker or workers together, shared pages once.
        var one: Double
        var two: Double
        /// The program and its workers together.
        var all: (one: Double, two: Double)

        var ratio: Double { two / one }
    }

    let workshop: Workshop
    let corpus: Corpus

    func run(_ contenders: [Contender]) throws {
        var table = Table(
            "memory, MB", "peak of a worker", "one worker", "two workers together", "ratio", "with the program: one",
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

    /// Measures the memory on one reader's files.
    func measure(_ contender: Contender) throws -> Result {
        let paths = corpus.items.filter { $0.group == "lj" }.map(\.path)
        let costs = try [1, 2].map { jobs in
            try workshop.transcribe(
                paths, by: contender, jobs: jobs, into: "memory-\(contender.name)", samplingMemory: true
            ).cost
        }
        return Result(
            worker: max(costs[0].peakWorkerMegabytes, costs[1].peakWorkerMegabytes),
            one: costs[0].peakWorkersMegabytes, two: costs[1].peakWorkersMegabytes,
            all: (costs[0].peakTogetherMegabytes, costs[1].peakTogetherMegabytes))
    }
}
