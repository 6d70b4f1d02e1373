// Configurations as every room reads them: with the engines that there are.

extension ConfigurationKey {
    /// Every key there is, in the order of the sample file.
    static let all = all(engines: EngineRegistry.names)
}

extension Configuration {
    /// As `loadOwn`, with the settings that a stick brought, where `export.settings` says yes.
    ///
    /// - Throws: as `loadOwn`.
    package static func load(
        explicitPath: String?, environment: [String: String], systemPath: String = systemPath
    ) throws -> Configuration {
        try loadOwn(explicitPath: explicitPath, environment: environment, systemPath: systemPath).withStickSettings()
    }

    /// Reads the machine's own configuration from `explicitPath`, else from `$FIELDSCRIBE_CONFIG`, else from `systemPath` if there is
    /// such a file; else all is by default.
    ///
    /// - Parameter explicitPath: what `--config` names.
    /// - Throws: `DeviceError` where the file cannot be read, with `missing` where one that was named is not there;
    ///   `ConfigurationError` for what is in it.
    package static func loadOwn(
        explicitPath: String?, environment: [String: String], systemPath: String = systemPath
    ) throws -> Configuration {
        try load(
            explicitPath: explicitPath, environment: environment, systemPath: systemPath, keys: ConfigurationKey.all)
    }
}

extension LoadedConfiguration {
    /// Loads what `Configuration.load` would, and never fails.
    package init(explicitPath: String?, environment: [String: String], systemPath: String = Configuration.systemPath) {
        self.init(
            explicitPath: explicitPath, environment: environment, systemPath: systemPath, keys: ConfigurationKey.all
        ) { $0.withStickSettings() }
    }
}
