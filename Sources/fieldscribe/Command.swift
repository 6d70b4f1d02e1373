import Core

/// A subcommand; one a file.
protocol Command {
    static var name: String { get }

    /// Names that it had in an earlier version, and may still be called by; no list shows them.
    static var formerNames: [String] { get }

    /// One line for the list of commands.
    static var summary: String { get }

    /// What follows the name on the command line.
    static var usage: String { get }

    /// Explains arguments and options.
    static var details: String { get }

    /// Options that take a value, and options that take none; `--config` is everybody's.
    static var options: (values: [String], flags: [String]) { get }

    static var isHidden: Bool { get }

    static func run(_ arguments: Arguments) async throws
}

extension Command {
    static var isHidden: Bool { false }
    static var formerNames: [String] { [] }

    static var help: String {
        """
        \(summary)

        usage: fieldscribe \(name) \(usage)

        \(details)
          --config FILE      settings; else $FIELDSCRIBE_CONFIG, else /etc/fieldscribe/fieldscribe.conf, else defaults

        """
    }
}
