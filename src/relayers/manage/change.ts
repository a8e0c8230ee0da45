import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '../../access/principal.ts'
import { appendManagement } from '../../audit/append-store.ts'
import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { AppError, relayerNotFound } from '../../errors.ts'
import type { Network } from '../../networks/network.ts'
import { lockSigner } from '../../signers/store.ts'
import type { RelayerAccounts } from '../accounts/accounts.ts'
import { AccountInUseError, claimsOf, reserveAccounts } from '../accounts/claims-store.ts'
import { type AccountKey, furtherConfig, furtherKeys } from '../accounts/pool.ts'
import { saveFurtherAccounts } from '../accounts/pool-store.ts'
import { sendsPrivately } from '../policies/policy.ts'
import type { Relayer, RelayerConfig } from '../relayer.ts'
import { relayerChanges } from '../relayer-codec.ts'
import { findRelayer, lockRelayer, lockTopUps, updateRelayer } from '../store.ts'
import {
  checkUntrustedEndpoints,
  findAccounts,
  type ManageContext,
  type ManagedRelayer,
  requireNotification,
  requirePrivateEndpoints,
  requireTreasury,
  resolveNetwork,
  signerNotFound,
} from './context.ts'

/** Maps the current relayer to the new one. `initial` has the policies, by wire names, that null sets. */
export type RelayerChange = (relayer: Relayer, initial: object) => RelayerConfig

/** A change that a caller requests. */
interface RequestedChange {
  readonly id: string
  readonly change: RelayerChange
  readonly actor: Actor
}

/**
 * Checks the change before it locks anything (I9), and then applies it to the relayer as it is under the
 * lock.
 * @throws AppError 404 `relayer_not_found`
 */
export async function changeRelayer(
  context: ManageContext,
  { id, change, actor }: RequestedChange,
): Promise<ManagedRelayer> {
  const seen = requireRelayer(await findRelayer(context.db, id), id)
  const wanted = change(seen, context.bounds.initialOf(seen))
  const network = resolveNetwork(context.networks, wanted)
  // A relayer whose network has lost its private endpoints can still be paused.
  if (!sendsPrivately(seen)) requirePrivateEndpoints(network, wanted)
  context.bounds.check(wanted)
  const hasNewSigner = wanted.signerId !== seen.signerId
  if (hasNewSigner) await requireSameAccounts(context, { present: seen, wanted, network })
  const { customRpcUrls } = wanted
  const isNew = !isDeepStrictEqual(customRpcUrls, seen.customRpcUrls)
  const accounts = await changedAccounts(context, { present: seen, wanted, network })
  const logs = isNew && customRpcUrls ? await checkUntrustedEndpoints(context, network, customRpcUrls) : []
  const changed = await transact(context.db, async (tx) => {
    if (wanted.policies.topUp !== undefined) await lockTopUps(tx)
    const present = requireRelayer(await lockRelayer(tx, id, 'update'), id)
    const next = change(present, context.bounds.initialOf(present))
    resolveNetwork(context.networks, next)
    context.bounds.check(next)
    if (next.signerId !== present.signerId) await requireSigner(tx, next)
    if (next.notificationId !== present.notificationId) await requireNotification(tx, next.notificationId)
    if (!isDeepStrictEqual(next.policies.topUp, present.policies.topUp)) await requireTreasury(tx, next)
    const updated = await updateRelayer(tx, { ...next, address: present.address })
    if (accounts !== undefined) await storeAccounts(tx, { present, next, accounts })
    const target = { type: 'relayer', id } as const
    const changes = relayerChanges(present, updated)
    await appendManagement(tx, { author: actor, action: 'updateRelayer', target, ...changes })
    return updated
  })
  // The other fields do not affect the health of a relayer, so the caller need not wait for a check.
  const affectsHealth = isNew || hasNewSigner || !isDeepStrictEqual(wanted.policies, seen.policies)
  return { relayer: affectsHealth ? await context.checked(changed) : changed, logs }
}

function requireRelayer(relayer: Relayer | undefined, id: string): Relayer {
  if (relayer === undefined) throw relayerNotFound(id)
  return relayer
}

interface Handover {
  readonly present: Relayer
  readonly wanted: RelayerConfig
  readonly network: Network
}

/**
 * Checks that another signer has the same accounts, so that nonces and stored transactions stay those of the
 * relayer.
 * @throws AppError `signer_not_found`, or `invalid_request` that says which address the signer has
 */
async function requireSameAccounts(
  context: ManageContext,
  { present, wanted, network }: Handover,
): Promise<void> {
  const { addresses } = await findAccounts(context, wanted, network)
  const [own, ...channels] = addresses
  if (own !== present.address)
    throw refused(
      `signer "${wanted.signerId}" has the key of ${own}, and relayer "${present.id}" operates ${present.address}; create a relayer for another account`,
    )
  const [, ...before] = (await findAccounts(context, present, network)).addresses
  if (channels.join() !== before.join())
    throw refused(`signer "${wanted.signerId}" derives other channel accounts than "${present.signerId}"`)
}

/**
 * Derives the accounts of a relayer if the change gives it others; undefined if it keeps them.
 * @throws AppError `signer_not_found`, `invalid_request`
 */
async function changedAccounts(
  context: ManageContext,
  { present, wanted, network }: Handover,
): Promise<RelayerAccounts | undefined> {
  if (isDeepStrictEqual(wanted.accounts, present.accounts)) return undefined
  return findAccounts(context, wanted, network)
}

interface NewAccounts {
  readonly present: Relayer
  readonly next: RelayerConfig
  readonly accounts: RelayerAccounts
}

/**
 * Stores the further accounts that were derived before the lock.
 * @throws AppError `in_use` if a concurrent change has changed what they depend on; `account_taken`
 */
async function storeAccounts(tx: Tx, { present, next, accounts }: NewAccounts): Promise<void> {
  const { further = [] } = accounts
  const keys = furtherKeys(next).map(({ signerId, index }) => `${signerId} ${index}`)
  const derived = further.map(({ signerId, accountIndex = 0 }) => `${signerId} ${accountIndex}`)
  if (keys.join() !== derived.join())
    throw new AppError(
      'in_use',
      `Relayer ${next.id} was changed by another request meanwhile; send the change again.`,
    )
  for (const signerId of [...new Set(further.map((account) => account.signerId))].sort())
    await requireSigner(tx, { ...next, signerId })
  await saveFurtherAccounts(
    tx,
    present,
    further.map((account) => ({
      ...furtherConfig(next, keyOf(account)),
      id: account.id,
      address: account.address,
    })),
  )
  const claims = claimsOf(next.id, accounts).filter(({ relayerId }) => relayerId !== next.id)
  await reserveAccounts(tx, claims).catch((error: unknown) => {
    if (!(error instanceof AccountInUseError)) throw error
    throw new AppError('account_taken', `accounts: ${error.message}.`, { cause: error })
  })
}

function keyOf({ signerId, accountIndex = 0 }: RelayerConfig): AccountKey {
  return { signerId, index: accountIndex }
}

/**
 * Locks the signer against deletion until the commit.
 * @throws AppError `signer_not_found`
 */
async function requireSigner(tx: Tx, relayer: RelayerConfig): Promise<void> {
  if ((await lockSigner(tx, relayer.signerId, 'share')) === undefined)
    throw signerNotFound(relayer, relayer.signerId)
}

function refused(sentence: string): AppError {
  return new AppError('invalid_request', `signer_id: ${sentence}.`)
}
