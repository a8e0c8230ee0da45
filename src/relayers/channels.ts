import { assertNever } from '../lib/assert-never.ts'
import { id, whole } from '../lib/fields/field-types.ts'
import type { Reader } from '../lib/fields/reader.ts'
import type { RelayerConfig } from './relayer.ts'

/** The channel accounts of a relayer: a count of derived ones, or the ids of the signers that hold their keys. */
export type Channels = number | readonly string[]

/** More channels are of no use: an account has at most a thousand other entries, and one transaction creates at most a hundred. */
const MAX_CHANNELS = 100

/** Returns the channels of a relayer; 0 where it has none, as on every network type without channels. */
export function channelsOf(relayer: RelayerConfig): Channels {
  switch (relayer.networkType) {
    case 'evm':
    case 'solana':
      return 0
    case 'stellar':
      return relayer.channels ?? 0
    default:
      return assertNever(relayer)
  }
}

/** Returns the signers that a relayer names: its own first, then those of its channels. */
export function signersOf(relayer: RelayerConfig): readonly string[] {
  const channels = channelsOf(relayer)
  return typeof channels === 'number' ? [relayer.signerId] : [relayer.signerId, ...channels]
}

/** Reads the field `channels` of a relayer document. */
export function readChannels(relayer: Reader): Channels | undefined {
  if (!Array.isArray(relayer.raw('channels'))) return relayer.find('channels', whole(0, MAX_CHANNELS))
  const signers = relayer.list('channels', id)
  if (signers.length > MAX_CHANNELS) relayer.problem(`has more than ${MAX_CHANNELS} "channels"`)
  return signers
}

/** @throws Error when the stored value is neither a count nor a list of signers */
export function parseChannels(stored: unknown): Channels {
  if (typeof stored === 'number') return stored
  if (Array.isArray(stored) && stored.every((signer) => typeof signer === 'string')) return stored
  throw new Error(`stored channels are neither a number nor a list of signers: ${JSON.stringify(stored)}`)
}
