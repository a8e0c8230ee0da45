import type { Answer } from '../../chains/answer.ts'
import type { Db, Tx } from '../../database/db.ts'
import { AppError } from '../../errors.ts'
import { suggestNetwork } from '../../networks/catalogue/catalogue.ts'
import type { NetworkDirectory } from '../../networks/directory.ts'
import type { Network, RpcUrl } from '../../networks/network.ts'
import { silentEndpoints, untrustedRpcUrlProblem } from '../../networks/read-urls.ts'
import { holdNotification } from '../../notifications/store.ts'
import { accountsOf, duplicateAccounts, namedAccounts, type RelayerAccounts } from '../accounts/accounts.ts'
import { isFurtherAccount, poolIdOf } from '../accounts/pool.ts'
import { type FindKey, MissingSignerError, UnfitSignerError } from '../accounts/source-accounts.ts'
import type { HealthTarget } from '../health/health.ts'
import { limitProblem, pricingProblem, privacyProblem } from '../policies/policy.ts'
import type { PolicyBounds } from '../policies/policy-bounds.ts'
import type { Relayer, RelayerConfig } from '../relayer.ts'
import { allRelayers } from '../store.ts'
import { topUpProblem } from '../top-up.ts'

/** The parts of the service that the management of relayers works with. */
export interface ManageContext {
  readonly db: Db
  readonly networks: NetworkDirectory
  readonly findKey: FindKey
  /** Checks which chain the network's URLs serve, for a few seconds at most. */
  readonly verify: (network: Network) => Promise<Answer<void>>
  /** The ceilings that the operator sets for policies. */
  readonly bounds: PolicyBounds
  /** Lets callers' URLs lead to private networks. */
  readonly allowPrivateUrls: boolean
  /** Returns the current chain and accounts of a relayer. */
  readonly prepare: (relayer: Relayer) => Promise<Pick<HealthTarget, 'chain' | 'sourceAccounts'>>
  /** Checks the health of a relayer that was created or changed, and returns it as it is afterwards. */
  readonly checked: (relayer: Relayer) => Promise<Relayer>
  /** Warns the operator if the key of a new relayer also serves other networks. It never rejects. */
  readonly reportKey: (relayer: Relayer) => Promise<void>
}

/** A relayer after a change, with sentences for the caller. */
export interface ManagedRelayer {
  readonly relayer: Relayer
  readonly logs: readonly string[]
}

/**
 * Locks the notification against deletion until the commit.
 * @throws AppError 404 `notification_not_found`, or 400 if it gets only alerts
 */
export async function requireNotification(tx: Tx, notificationId: string | undefined): Promise<void> {
  if (notificationId === undefined) return
  const type = await holdNotification(tx, notificationId)
  if (type === undefined) throw noNotification(notificationId)
  if (type !== 'webhook')
    throw new AppError(
      'invalid_request',
      `notification_id: expected a notification of type webhook; "${notificationId}" is of type ${type}, which gets the alerts of every relayer without being named.`,
    )
}

/** Makes the failure for a relayer that would refer to a notification that is not there. */
export function noNotification(id: string): AppError {
  return new AppError('notification_not_found', `notification_id: there is no notification "${id}".`)
}

/**
 * Finds the network that the relayer names.
 * @throws AppError 400 if no network has this name, if it has no endpoint, or if it does not support the
 * relayer's pricing
 */
export function resolveNetwork(networks: NetworkDirectory, relayer: RelayerConfig): Network {
  const { network: name, networkType, customRpcUrls } = relayer
  const network = networks.find(networkType, name)
  if (network === undefined) {
    const names = networks.list().flatMap((one) => (one.type === networkType ? [one.name] : []))
    throw new AppError(
      'unknown_network',
      `network: there is no network "${name}" of type ${networkType}${suggestNetwork({ name, type: networkType, known: names })}.`,
    )
  }
  if (network.rpcUrls.length === 0 && customRpcUrls === undefined)
    throw new AppError('invalid_request', `custom_rpc_urls: network "${name}" has no endpoints; set some.`)
  const elsewhere = limitProblem(relayer)
  if (elsewhere !== undefined) throw new AppError('invalid_request', `policies.rules: ${elsewhere}.`)
  const problem = pricingProblem(relayer, network)
  if (problem !== undefined) throw new AppError('invalid_request', `policies.eip1559_pricing: ${problem}.`)
  return network
}

/**
 * Refuses a relayer that keeps its transactions private where the network has no private endpoint.
 * @throws AppError 400
 */
export function requirePrivateEndpoints(network: Network, relayer: RelayerConfig): void {
  const problem = privacyProblem(relayer, network)
  if (problem !== undefined)
    throw new AppError('invalid_request', `policies.private_transactions: ${problem}.`)
}

/**
 * Checks RPC urls that a caller chose for a relayer on this network. Returns sentences for the caller.
 * @throws AppError 400 if a url is forbidden or serves another chain. Silence is no reason to refuse (I6).
 */
export async function checkUntrustedEndpoints(
  { verify, allowPrivateUrls }: Pick<ManageContext, 'verify' | 'allowPrivateUrls'>,
  network: Network,
  rpcUrls: readonly RpcUrl[],
): Promise<string[]> {
  for (const [index, { url }] of rpcUrls.entries()) {
    const problem = untrustedRpcUrlProblem(url, { allowPrivate: allowPrivateUrls })
    if (problem !== undefined)
      throw new AppError('invalid_request', `custom_rpc_urls[${index}].url: ${problem}.`)
  }
  const answer = await verify({ ...network, rpcUrls })
  if (answer.kind === 'refused')
    throw new AppError('wrong_chain', `custom_rpc_urls: ${answer.refusal.detail}`)
  if (answer.kind === 'ok') return []
  return [silentEndpoints('custom_rpc_urls', rpcUrls)]
}

/**
 * Derives the accounts of a relayer from the keys of its signers.
 * @throws AppError `signer_not_found`, or `invalid_request` for a signer that cannot sign for it
 */
export async function findAccounts(
  { findKey }: ManageContext,
  relayer: RelayerConfig,
  network: Network,
): Promise<RelayerAccounts> {
  try {
    const accounts = await accountsOf(relayer, network, findKey)
    const [duplicate] = duplicateAccounts(namedAccounts(relayer.id, accounts))
    const field = accounts.further === undefined ? 'channels' : 'accounts'
    if (duplicate !== undefined) throw new AppError('invalid_request', `${field}: ${duplicate}.`)
    return accounts
  } catch (error) {
    if (error instanceof MissingSignerError) throw signerNotFound(relayer, error.signerId)
    if (error instanceof UnfitSignerError)
      throw new AppError('invalid_request', `${error.field}: ${error.message}.`, { cause: error })
    throw error
  }
}

/** Makes the failure for a signer that a relayer names and that does not exist. */
export function signerNotFound({ signerId, accounts = [] }: RelayerConfig, missing: string): AppError {
  const isOfAccount = accounts.some((account) => account.signerId === missing)
  const field = missing === signerId ? 'signer_id' : isOfAccount ? 'accounts' : 'channels'
  return new AppError('signer_not_found', `${field}: there is no signer "${missing}".`)
}

/**
 * Refuses an impossible top-up of a relayer. The caller holds the lock of `lockTopUps`.
 * @throws AppError 400
 */
export async function requireTreasury(tx: Tx, relayer: RelayerConfig): Promise<void> {
  if (relayer.policies.topUp === undefined) return
  const others = (await allRelayers(tx)).filter(({ id }) => id !== relayer.id && !isFurtherAccount({ id }))
  const problem = topUpProblem(relayer, [...others, relayer])
  if (problem !== undefined) throw new AppError('invalid_request', `policies.top_up: ${problem}.`)
}

/**
 * Refuses to delete a relayer that fills others: a new one with its id would pay for them.
 * @throws AppError 400 `in_use`
 */
export async function refuseTreasury(tx: Tx, id: string): Promise<void> {
  const filled = (await allRelayers(tx)).filter(
    (relayer) => relayer.policies.topUp?.from === id && poolIdOf(relayer.id) !== id,
  )
  if (filled.length === 0) return
  const names = [...new Set(filled.map((relayer) => poolIdOf(relayer.id)))].join(', ')
  throw new AppError(
    'in_use',
    `Relayer ${id} fills ${names} (policies.top_up). Change that before deleting it.`,
  )
}
