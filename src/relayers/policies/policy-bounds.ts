import type { Logger } from 'pino'
import { FAMILIES } from '../../chains/families.ts'
import type { Db } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { AppError } from '../../errors.ts'
import type { NetworkDirectory } from '../../networks/directory.ts'
import { chainName, type Network } from '../../networks/network.ts'
import type { Relayer, RelayerConfig } from '../relayer.ts'
import { lockRelayer, pagesOfRelayers, updateRelayer } from '../store.ts'
import { nameItems } from './limit.ts'
import { findRelaxationsOf, writePoliciesOf } from './policies.ts'

/** The ceilings that the operator sets for policies of callers. */
export interface PolicyBounds {
  /**
   * Returns the policies of the file, by wire names: the policies that null in a patch sets. Empty for a
   * relayer of a caller.
   */
  initialOf(relayer: RelayerConfig): object
  /** @throws AppError 400 `policy_beyond_ceiling` for policies that allow more than the operator does */
  check(relayer: RelayerConfig): void
  /** Lowers the policies that allow more, and returns their wire names. */
  lower<T extends RelayerConfig>(relayer: T): { readonly relayer: T; readonly lowered: readonly string[] }
}

interface PolicyBoundsOptions {
  /** The relayers of the configuration file. */
  readonly relayers: readonly RelayerConfig[]
  /** The ids of those whose policies callers may relax. */
  readonly apiMayRelax: readonly string[]
  readonly networks: Pick<NetworkDirectory, 'find'>
}

/** A policy that allows more than the operator does, and the value that replaces it. */
interface Excess {
  readonly name: string
  readonly wireName: string
  readonly problem: string
  readonly lowered: unknown
}

/**
 * Creates the bounds. An entry of the file is the ceiling of every relayer with its account, regardless of
 * the id: a caller may delete a relayer of the file and create another one. Only the file decides which
 * methods reach the operator's endpoints.
 */
export function createPolicyBounds(options: PolicyBoundsOptions): PolicyBounds {
  const { relayers, networks, apiMayRelax } = options
  const networkOf = ({ networkType, network }: RelayerConfig) => networks.find(networkType, network)
  const entries = Map.groupBy(relayers, ({ signerId }) => signerId)
  const entryOf = (relayer: RelayerConfig, signerId = relayer.signerId) =>
    entries.get(signerId)?.find((entry) => isSameChain(networkOf(entry), networkOf(relayer)))

  /** Lists what goes beyond the ceiling of one of its accounts. */
  function excessesUnder(relayer: RelayerConfig, signerId: string): Excess[] {
    const entry = entryOf(relayer, signerId)
    if (entry !== undefined && apiMayRelax.includes(entry.id)) return []
    const excesses = entry === undefined ? [] : relaxations(relayer, entry)
    if (entry?.policies.allowedRpcMethods !== undefined) return excesses
    const { extraRpcMethods = [] } = networkOf(relayer) ?? {}
    const methods = excessOfMethods(relayer, [
      ...FAMILIES[relayer.networkType].readMethods,
      ...extraRpcMethods,
    ])
    return methods === undefined ? excesses : [...excesses, methods]
  }

  return {
    initialOf: (relayer) => {
      const entry = entryOf(relayer)
      return entry === undefined ? {} : writePoliciesOf(entry)
    },
    check: (relayer) => {
      const [excess] = signersOfAccounts(relayer).flatMap((signerId) => excessesUnder(relayer, signerId))
      if (excess !== undefined)
        throw new AppError('policy_beyond_ceiling', `policies.${excess.wireName}: ${excess.problem}.`)
    },
    lower: (relayer) => {
      let { policies } = relayer
      const lowered = new Set<string>()
      for (const signerId of signersOfAccounts(relayer)) {
        const excesses = excessesUnder({ ...relayer, policies } as RelayerConfig, signerId)
        policies = { ...policies, ...Object.fromEntries(excesses.map((one) => [one.name, one.lowered])) }
        for (const { wireName } of excesses) lowered.add(wireName)
      }
      return { relayer: { ...relayer, policies }, lowered: [...lowered] }
    },
  }
}

/** The signers of the accounts of a relayer, its own first: the file can limit what each may do. */
function signersOfAccounts({ signerId, accounts = [] }: RelayerConfig): string[] {
  return [...new Set([signerId, ...accounts.map((account) => account.signerId)])]
}

function isSameChain(one: Network | undefined, other: Network | undefined): boolean {
  return one !== undefined && one.type === other?.type && chainName(one) === chainName(other)
}

function relaxations(relayer: RelayerConfig, entry: RelayerConfig): Excess[] {
  const ceiling = new Map(Object.entries(entry.policies))
  return findRelaxationsOf(relayer, entry).map(({ name, wireName, expected }) => ({
    name,
    wireName,
    problem: `the configuration file sets a ceiling; ${expected}`,
    lowered: ceiling.get(name),
  }))
}

/** A caller may use any method on the caller's own endpoints. */
function excessOfMethods(
  { policies: { allowedRpcMethods = [] }, customRpcUrls }: RelayerConfig,
  allowed: readonly string[],
): Excess | undefined {
  if (customRpcUrls?.every(({ untrusted }) => untrusted)) return undefined
  const excess = allowedRpcMethods.filter((method) => !allowed.includes(method))
  if (excess.length === 0) return undefined
  return {
    name: 'allowedRpcMethods',
    wireName: 'allowed_rpc_methods',
    problem: `${nameItems(excess)} cannot be allowed over the API for endpoints of the operator; only items of this list are expected: ${allowed.join(', ')}`,
    lowered: allowedRpcMethods.filter((method) => allowed.includes(method)),
  }
}

interface LowerDeps {
  readonly db: Db
  readonly bounds: PolicyBounds
  readonly log: Logger
}

/**
 * Lowers policies that were set before the file, or this release, limited them. The ceiling then holds for
 * every stored relayer.
 */
export async function lowerPolicies(deps: LowerDeps): Promise<void> {
  for await (const page of pagesOfRelayers(deps.db))
    await lowerThose(
      deps,
      page.filter((relayer) => deps.bounds.lower(relayer).lowered.length > 0),
    )
}

async function lowerThose({ db, bounds, log }: LowerDeps, beyond: readonly Relayer[]): Promise<void> {
  for (const { id } of beyond) {
    const lowered = await transact(db, async (tx) => {
      const present = await lockRelayer(tx, id, 'update')
      if (present === undefined) return []
      const next = bounds.lower(present)
      // Another process may have lowered them since they were read.
      if (next.lowered.length > 0) await updateRelayer(tx, next.relayer)
      return next.lowered
    })
    if (lowered.length > 0)
      log.warn({ relayer: id, policies: lowered }, 'policies lowered to the ceiling of the configuration')
  }
}
