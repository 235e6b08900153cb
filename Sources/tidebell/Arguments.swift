// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
public import Logging
package import TidebellCore
package import TidebellDevice
package import TidebellWire

// The values of options are those of the rules themselves: what a rule does not know is an
// error of the command.
extension CloudEnvironment: ExpressibleByArgument {}
extension DatabaseScope: ExpressibleByArgument {}
extension DuplicatePolicy: ExpressibleByArgument {}
extension ExistingRecordPolicy: ExpressibleByArgument {}
extension ManagementTask: ExpressibleByArgument {}
extension Strictness: ExpressibleByArgument {}
extension PruningOrder: ExpressibleByArgument {}
extension DeviceLogin.Decision: ExpressibleByArgument {}
extension Logger.Level: @retroactive ExpressibleByArgument {}
