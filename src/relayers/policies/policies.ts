import { assertNever } from '../../lib/exhaustive.ts'
import type { Reader } from '../../lib/fields.ts'
import { NETWORK_TYPES, type NetworkType } from '../../networks/network.ts'
import type { RelayerConfig, RelayerConfigOf } from '../relayer.ts'
import { checkEvmPolicies, EVM_POLICIES } from './evm.ts'
import {
  decodePolicies,
  findRelaxations,
  type PolicyTable,
  type Relaxation,
  readPolicies,
  writePolicies,
} from './policy-table.ts'
import { checkSolanaPolicies, SOLANA_POLICIES } from './solana.ts'
import { checkStellarPolicies, STELLAR_POLICIES } from './stellar.ts'

type PoliciesOf<T extends NetworkType> = RelayerConfigOf<T>['policies']

interface NetworkPolicies<P> {
  readonly table: PolicyTable<P>
  /** Reports what no single policy decides, and reads the fields that have no effect. */
  check(policies: Reader, read: P): void
  /**
   * Returns the highest price that the policies let a transaction bid, in the unit in which the type bids.
   * Absent where the limit is on the whole fee.
   */
  bidCap?(policies: P): bigint | undefined
  /** Relayers may have channels. */
  readonly channels?: true
}

const POLICIES: { readonly [T in NetworkType]: NetworkPolicies<PoliciesOf<T>> } = {
  evm: {
    table: EVM_POLICIES,
    check: checkEvmPolicies,
    bidCap: ({ gasPriceCap }) => gasPriceCap,
  },
  solana: { table: SOLANA_POLICIES, check: checkSolanaPolicies },
  stellar: {
    table: STELLAR_POLICIES,
    check: checkStellarPolicies,
    bidCap: ({ maxFee }) => maxFee ?? STELLAR_POLICIES.maxFee.default,
    channels: true,
  },
}

/**
 * Reads the field `policies` of a relayer document. Every policy has its default when the field is absent.
 */
export function readPoliciesOf<T extends NetworkType>(type: T, relayer: Reader): PoliciesOf<T> {
  const { table, check }: NetworkPolicies<PoliciesOf<T>> = POLICIES[type]
  const reader = relayer.object('policies')
  if (reader === undefined) return decodePolicies(table, {})
  const policies = readPolicies(table, reader)
  check(reader, policies)
  reportOtherPolicies(type, reader)
  reader.finish()
  return policies
}

/** Says of each policy of another network type that it is one. */
function reportOtherPolicies(type: NetworkType, policies: Reader): void {
  const own = new Set(wireNamesOf(type))
  for (const other of NETWORK_TYPES.filter((one) => one !== type)) {
    for (const name of wireNamesOf(other).filter((one) => !own.has(one) && policies.raw(one) !== undefined)) {
      own.add(name)
      policies.problem(`is a policy of ${other} networks; this relayer is on one of type ${type}`, name)
    }
  }
}

function wireNamesOf(type: NetworkType): string[] {
  return Object.values<{ readonly wireName: string }>(POLICIES[type].table).map(({ wireName }) => wireName)
}

/**
 * Decodes the policies that the database holds. @throws Error for policies that this release does not know
 */
export function decodePoliciesOf<T extends NetworkType>(type: T, stored: object): PoliciesOf<T> {
  const { table }: NetworkPolicies<PoliciesOf<T>> = POLICIES[type]
  return decodePolicies(table, stored)
}

/** Writes the policies of a relayer by their wire names. Policies that are not set stay absent. */
export function writePoliciesOf(relayer: RelayerConfig) {
  switch (relayer.networkType) {
    case 'evm':
      return writePolicies(EVM_POLICIES, relayer.policies)
    case 'solana':
      return writePolicies(SOLANA_POLICIES, relayer.policies)
    case 'stellar':
      return writePolicies(STELLAR_POLICIES, relayer.policies)
    default:
      return assertNever(relayer)
  }
}

/** Tells whether relayers on networks of this type may have channels. */
export function hasChannels(type: NetworkType): boolean {
  return POLICIES[type].channels === true
}

/**
 * Returns the limiting policies of a relayer that are wider than those of a ceiling of the same network type.
 */
export function findRelaxationsOf(relayer: RelayerConfig, ceiling: RelayerConfig): Relaxation[] {
  const { table }: NetworkPolicies<object> = POLICIES[relayer.networkType]
  return findRelaxations<object>(table, relayer.policies, ceiling.policies)
}

/** Returns the highest price that a relayer bids; undefined for no limit of the price. */
export function bidCapOf({ networkType, policies }: RelayerConfig): bigint | undefined {
  const { bidCap }: NetworkPolicies<object> = POLICIES[networkType]
  return bidCap?.(policies)
}

/**
 * The balance that stays on the account when `min_balance` is not set: a wei, a tenth of a lumen, a hundredth
 * of a SOL.
 */
export function defaultMinBalance(type: NetworkType): bigint {
  return POLICIES[type].table.minBalance.default ?? 0n
}
