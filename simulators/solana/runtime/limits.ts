/** Numbers that the network fixes, each with its source in the validator (anza-xyz/agave). */

/** Bytes of a serialized transaction: what a packet holds (packet/src/lib.rs `PACKET_DATA_SIZE`). */
export const PACKET_DATA_SIZE = 1232

/** Blocks after which a blockhash is too old to be taken (clock `MAX_PROCESSING_AGE`). */
export const MAX_PROCESSING_AGE = 150

/**
 * The same for a simulation and a preflight, which leave time for the way to the leader (agave bank.rs `simulate_transaction_unchecked`: 6
 * less, `MAX_TRANSACTION_FORWARDING_DELAY`).
 */
export const MAX_SIMULATION_AGE = 144

/** Most instructions of a transaction (transaction-context `MAX_INSTRUCTION_TRACE_LENGTH`, SIMD-0160). */
export const MAX_INSTRUCTIONS = 64

/** Lamports that each signature costs (fee-structure `lamports_per_signature`). */
export const LAMPORTS_PER_SIGNATURE = 5000n

/** A price of compute units is in millionths of a lamport (compute-budget `MICRO_LAMPORTS_PER_LAMPORT`). */
export const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n

/** Most compute units of a transaction (compute-budget `MAX_COMPUTE_UNIT_LIMIT`). */
export const MAX_COMPUTE_UNIT_LIMIT = 1_400_000n

/** Compute units of an instruction where no limit is set (compute-budget `DEFAULT_INSTRUCTION_COMPUTE_UNIT_LIMIT`). */
export const DEFAULT_INSTRUCTION_UNITS = 200_000n

/** The same for a program that is built into the runtime (SIMD-0170 `MAX_BUILTIN_ALLOCATION_COMPUTE_UNIT_LIMIT`). */
export const BUILTIN_INSTRUCTION_UNITS = 3_000n

/** Slots of an epoch (clock `DEFAULT_SLOTS_PER_EPOCH`). */
export const SLOTS_PER_EPOCH = 432_000n

/** Slots that the slot-hashes sysvar remembers (slot-hashes `MAX_ENTRIES`). */
export const MAX_SLOT_HASHES = 512
