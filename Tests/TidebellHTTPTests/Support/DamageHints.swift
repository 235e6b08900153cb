// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellTestStores

/// Where answers and the log send an operator whose cloud is damaged, on the engine that the tests run on.
enum DamageHints {
    private static let isInDataFolder = TestStores.factory.isInDataFolder

    static let ofAnswers = isInDataFolder ? "with 'tidebell check'" : "in the server's log"
    static let ofTheLog =
        isInDataFolder ? "run 'tidebell check'" : "run 'pg_amcheck' on its database"
    static let ofFiles = isInDataFolder ? "'tidebell check' names the records that hold it; " : ""
}
