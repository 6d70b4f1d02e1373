import Core

/// A subcommand.
protocol Command {
    static var name: String { get }

    /// Other names that work. No list shows them.
    static var aliases: [String] { get }

    /// An imperative of at most nine words for the list of commands.
    static var summary: String { get }

    /// What follows the name on the command line.
    static var usage: String { get }

    /// Explains arguments and options.
    static var details: String { get }

    /// Options with a value and options without one. Every command also has `--config`.
    static var options: (values: [String], flags: [String]) { get }

    static func run(_ arguments: Arguments) async throws
}

extension Command {
    static var aliases: [String] { [] }

    static var help: String {
        """
        \(summary)

        usage: fieldscribe \(name) \(usage)

        \(details)
          --config FILE      settings; default $FIELDSCRIBE_CONFIG, else /etc/fieldscribe/fieldscribe.conf

        """
    }
}
