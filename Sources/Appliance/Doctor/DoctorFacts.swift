import Core
import Settings

/// The measurements of this machine. `findings` judges them.
package struct DoctorFacts: Sendable {
    /// Whether the appliance is running, according to its control socket.
    enum Appliance: Hashable, Sendable {
        case stopped, running
        /// The appliance is running, but this user may not control it.
        case denied
    }

    /// A measurement of the microphone's sound.
    struct Sound: Hashable, Sendable {
        var seconds = 0.0
        /// The RMS level, in dBFS.
        var rms = -100.0
        /// The highest peak, in dBFS.
        var peak = -100.0

        /// Whether all samples have the same value.
        var isStuck = false

        /// The share of samples at full scale, from 0 to 1.
        var clipped = 0.0

        var channels = 1
        var channelsIdentical = false
        /// Whether the channels cancel each other out when they are mixed.
        var channelsCancel = false
        /// The number of the channel that has a constant value, from 1; nil if there is none.
        var stuckChannel: Int?
        /// The number of samples that the device lost.
        var lost = 0
    }

    struct Line: Hashable, Sendable {
        /// The line's address, as in the configuration.
        var name: String
        /// Whether the line is a GPIO line. If not, it is simulated, or there is none.
        var isGpio: Bool
        /// Whether a Fieldscribe process holds the line; false if `error` is nil.
        var isOurs = false
        /// Why the line cannot be used; nil if it can.
        var error: DeviceError?
    }

    struct Disk: Hashable, Sendable {
        /// The storage directory, which may not exist yet.
        var directory: String
        /// The files and folders of the archive that other users may read, such as `archive.sqlite`.
        var readable: [String] = []
        /// The number of bytes that this user may still write to the disk.
        var freeBytes: Double

        /// The durations of repeated syncs of 32,000 bytes, in seconds.
        var syncSeconds: [Double]
    }

    struct Decoder: Hashable, Sendable {
        /// The seconds of audio that one worker decodes per second.
        var timesRealTime: Double

        /// Whether the speed was measured on speech. A synthetic sound gives only the order of magnitude.
        var wasMeasuredOnSpeech: Bool
        var engine: EngineDescription?
    }

    /// The permissions of the recording user.
    struct Permissions: Hashable, Sendable {
        /// The recording user: `fieldscribe` if it exists, otherwise the current user.
        var user: String
        var isRoot = false
        /// Whether the user is the service's user, which the package creates.
        var isServiceUser = false

        /// Required groups that the user is not in.
        var missingGroups: [String] = []

        /// Required groups that do not exist on this machine.
        var unknownGroups: [String] = []
    }

    /// The machine's hardware.
    package struct Board: Hashable, Sendable {
        /// The model, such as `Raspberry Pi 4 Model B Rev 1.4`.
        package var name: String
        /// The memory, in units of 1,000,000 bytes.
        var memoryMegabytes: Int
        var cores: Int

        /// The temperature, in degrees Celsius; nil if the machine has no sensor.
        var temperature: Double?

        /// Whether the machine reports that the supply voltage is or was too low; nil if it does not measure the
        /// voltage.
        var isUndervolted: Bool?
    }

    /// The settings used for the measurements, with defaults for those that are invalid.
    var configuration: Configuration

    /// The errors in the configuration file, one per element.
    var configurationProblems: [String] = []
    /// The settings with an error, such as `capture.device`. Their defaults are used instead.
    var invalidSettings: Set<String> = []
    /// Why the configuration file could not be read; nil if it could.
    var configurationError: DeviceError?
    var appliance = Appliance.stopped

    /// Whether the appliance uses the microphone; false if this user may not query the appliance.
    var microphoneIsOurs = false
    var sound: Result<Sound, DeviceError>

    /// The microphones, such as `plughw:CARD=Mic,DEV=0 (USB Microphone)`.
    var microphones: [String] = []
    var button: Line
    var lamp: Line
    /// Why no decode worker can be started, for example because the model is missing; nil if one can.
    var modelError: DeviceError?

    /// Why `auto` skips better engines, in the order of `EngineRegistry.automatic`.
    var skippedEngines: [DeviceError] = []

    /// The speed of decoding, or why it could not be measured; nil if there is a `modelError`.
    var decoder: Result<Decoder, DeviceError>?
    /// The path of the model that identifies speakers, or why it cannot be used; nil if speakers are not identified.
    var speakers: Result<String, DeviceError>?
    /// The programs and folders that the service's sandbox allows; nil if unknown or not checked.
    var runnable: [String]?
    var disk: Result<Disk, DeviceError>
    /// The number of public keys for which copies are encrypted, or why nothing can be copied. Nil if not checked.
    var sealing: Result<Int, DeviceError>?
    /// The number of public keys for which recordings on the recorder are encrypted, or why none are encrypted. Nil if
    /// not configured or not checked.
    var recorderSealing: Result<Int, DeviceError>?
    /// The damaged databases that were set aside; empty unless recordings on the recorder are encrypted.
    var damagedDatabases: [String] = []
    /// The sealed recordings that are open; nil if none are.
    var opened: ApplianceStatus.Opened?
    /// The public key of the recorder's signatures, or why nothing is signed. The key is nil before the first start;
    /// the result is nil if not checked.
    var signing: Result<String?, DeviceError>?
    /// The number of allowed sticks, or why the list cannot be read. Nil if not checked.
    var allowedSticks: Result<Int, DeviceError>?
    /// The USB ports that can act as a drive for a laptop, or why there is no drive. Nil if not configured or not
    /// checked.
    var drivePorts: Result<[String], DeviceError>?
    var permissions: Permissions
    /// Whether the clock was set from the network or a clock module.
    var isClockSynchronized: Bool
    package var board: Board
}

extension DoctorFacts.Disk {
    /// The median sync time, in seconds; 0 if nothing was measured.
    var medianSeconds: Double {
        let sorted = syncSeconds.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    /// The maximum sync time, in seconds; 0 if nothing was measured.
    var worstSeconds: Double { syncSeconds.max() ?? 0 }
}
