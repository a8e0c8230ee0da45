/** Codes of the validator (agave rpc-client-api/src/custom_error.rs). */
export const BLOCK_CLEANED_UP = -32001
export const PREFLIGHT_FAILURE = -32002
export const BLOCK_NOT_AVAILABLE = -32004
export const NODE_UNHEALTHY = -32005
export const SLOT_SKIPPED = -32007
export const TRANSACTION_HISTORY_NOT_AVAILABLE = -32011
export const UNSUPPORTED_TRANSACTION_VERSION = -32015
export const MIN_CONTEXT_SLOT_NOT_REACHED = -32016
