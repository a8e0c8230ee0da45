import type { StellarPolicies } from '../chains/stellar/content.ts'
import { omitUndefined } from '../lib/omit-undefined.ts'
import { flag, id, int64, oneOf, whole } from './fields/field-types.ts'
import type { Reader } from './fields/reader.ts'
import { readRpcMethods } from './fields/rpc-methods.ts'
import type { StellarRelayerConfig } from './types.ts'

/** More are of no use: an account has at most a thousand other entries, and one transaction creates at most a hundred. */
const MAX_CHANNELS = 100

/** A signed version that waits longer than a day is not meant. */
const MAX_TIMEOUT_SECONDS = 86_400

/** What only relayers on a Stellar network have. */
export function readStellarRelayer(
  reader: Reader,
  shared: Omit<StellarRelayerConfig, 'networkType' | 'policies' | 'channels'>,
): StellarRelayerConfig {
  const channels = readChannels(reader)
  return {
    ...shared,
    networkType: 'stellar',
    policies: readPolicies(reader),
    ...(channels !== undefined && { channels }),
  }
}

function readChannels(reader: Reader): StellarRelayerConfig['channels'] {
  if (!Array.isArray(reader.raw('channels'))) return reader.find('channels', whole(0, MAX_CHANNELS))
  const signers = reader.list('channels', id)
  if (signers.length > MAX_CHANNELS) reader.problem(`has more than ${MAX_CHANNELS} "channels"`)
  return signers
}

function readPolicies(relayer: Reader): StellarPolicies {
  const reader = relayer.object('policies')
  if (!reader) return {}
  const policies = omitUndefined({
    minBalance: reader.find('min_balance', int64),
    maxFee: reader.find('max_fee', int64),
    timeoutSeconds: reader.find('timeout_seconds', whole(1, MAX_TIMEOUT_SECONDS)),
    allowedRpcMethods: readRpcMethods(reader),
  })
  // Fees are paid in lumens by the relayer; how many transactions are on their way at once, the channels decide.
  reader.find('fee_payment_strategy', oneOf('relayer'))
  reader.find('concurrent_transactions', flag)
  reader.finish()
  return policies
}
