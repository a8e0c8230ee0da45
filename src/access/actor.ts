import type { SpendingRules } from '../spending/rules.ts'

/** The sender of a request, as the records of what it changed name it. The service itself has neither an address nor a request. */
export interface Actor {
  /** The id of its API key; `root` for that of the environment. */
  readonly keyId: string
  /** The peer address, or the one that a trusted proxy reported. For IPv6 the network of 64 bits. */
  readonly address?: string | undefined
  /** Leads to the lines of the log. */
  readonly requestId?: string | undefined
  /** The rules for what the API key may spend; absent when it has none. */
  readonly rules?: SpendingRules | undefined
}
