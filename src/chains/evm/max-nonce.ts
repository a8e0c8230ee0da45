/** The highest nonce that a number holds exactly; no account sends so many transactions. */
export const MAX_NONCE = BigInt(Number.MAX_SAFE_INTEGER)
