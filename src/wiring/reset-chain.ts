import type { Actor } from '../access/actor.ts'
import type { Database } from '../database/engine.ts'
import { AppError } from '../errors.ts'
import type { Clock } from '../lib/time/clock.ts'
import { hasUntrustedEndpoints, type Network, networkId } from '../networks/network.ts'
import { readNetworkChanges } from '../networks/network-changes.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { allRelayers } from '../relayers/store.ts'
import { type ResetResult, resetNetwork } from '../transactions/reset/reset-store.ts'
import type { RuntimeSet } from './create-runtimes.ts'

interface ChainResetDeps {
  readonly database: Database
  readonly runtimeSet: RuntimeSet
  readonly clock: Clock
}

/** Starts over on a test network whose chain was reset, for a caller. */
export type ChainReset = (network: Network, actor: Actor) => Promise<ResetResult>

/**
 * Creates the reset for callers. Without a proof, a transaction that it ends could still be included, and endpoints that a caller chose can
 * prove anything. So only the operator's endpoints of the network count, and only the relayers that use them start over.
 * @throws AppError `not_supported` for a main network; `chain_not_reset` without a proof
 */
export function createChainReset({ database: { db }, runtimeSet, clock }: ChainResetDeps): ChainReset {
  const { networks, context, healthChecker, prepare } = runtimeSet
  return async (network, actor) => {
    const relayers = (await allRelayers(db)).filter(
      ({ networkType, network: name, customRpcUrls }) =>
        networkType === network.type && name === network.name && customRpcUrls === undefined,
    )
    if (!network.isTestnet) throw mainNetwork(network)
    // The old chain may be back, and then this check enables what an earlier one disabled.
    const checked = await Promise.all(relayers.map((relayer) => healthChecker.checkNow(relayer)))
    if (hasUntrustedEndpoints(network) || !(await isProved(checked))) throw notReset(network)
    const now = new Date(clock.now())
    const result = await resetNetwork(db, network, { now, includesOwnEndpoints: false, author: actor })
    networks.update(await readNetworkChanges(db))
    // The check enables the relayers again, so that the caller can send at once.
    await Promise.all(relayers.map((relayer) => healthChecker.checkNow(relayer)))
    return result
  }

  async function isProved(relayers: readonly Relayer[]): Promise<boolean> {
    if (relayers.some(({ disabledReason }) => NONCE_REASONS.has(disabledReason?.type ?? ''))) return true
    for (const relayer of relayers)
      if ((await context.findChainReset(await prepare(relayer))) !== undefined) return true
    return false
  }
}

/** A relayer is disabled for them when the chain forgot a nonce that it had used. */
const NONCE_REASONS: ReadonlySet<string> = new Set(['NonceSyncFailed', 'SequenceSyncFailed'])

function mainNetwork({ name }: Network): AppError {
  return new AppError(
    'not_supported',
    `Network ${name} is a main network. The API resets only test networks; an operator can use: relayer reset ${name} --confirm ${name}`,
  )
}

function notReset(network: Network): AppError {
  return new AppError(
    'chain_not_reset',
    `Nothing proves that the chain of network ${networkId(network)} was reset, so its transactions can still be included. An operator who knows better can use: relayer reset ${network.name}`,
  )
}
