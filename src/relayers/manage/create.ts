import type { Actor } from '../../access/principal.ts'
import { appendManagement } from '../../audit/append-store.ts'
import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { AppError } from '../../errors.ts'
import { lockSigner } from '../../signers/store.ts'
import type { RelayerAccounts } from '../accounts/accounts.ts'
import { AccountInUseError, claimsOf, reserveAccounts } from '../accounts/claims-store.ts'
import { findAccountIds, saveFurtherAccounts } from '../accounts/pool-store.ts'
import { type Relayer, type RelayerConfig, signersOf } from '../relayer.ts'
import { auditedRelayer } from '../relayer-codec.ts'
import { insertRelayer, lockRelayer, lockTopUps } from '../store.ts'
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

/** Every network call comes first: no database transaction is open during one (I9). */
export async function createRelayer(
  context: ManageContext,
  relayer: RelayerConfig,
  actor: Actor,
): Promise<ManagedRelayer> {
  const network = resolveNetwork(context.networks, relayer)
  requirePrivateEndpoints(network, relayer)
  context.bounds.check(relayer)
  const accounts = await findAccounts(context, relayer, network)
  const { customRpcUrls } = relayer
  const logs = customRpcUrls ? await checkUntrustedEndpoints(context, network, customRpcUrls) : []
  const created = await transact(context.db, async (tx) => {
    const stored = await store(tx, relayer, accounts)
    const target = { type: 'relayer', id: relayer.id } as const
    const after = auditedRelayer(stored)
    await appendManagement(tx, { author: actor, action: 'createRelayer', target, after })
    return stored
  }).catch((error: unknown) => {
    throw error instanceof AccountInUseError ? accountInUse(error) : error
  })
  await context.reportKey(created)
  return { relayer: await context.checked(created), logs }
}

async function store(tx: Tx, relayer: RelayerConfig, accounts: RelayerAccounts): Promise<Relayer> {
  if (relayer.policies.topUp !== undefined) await lockTopUps(tx)
  // Relayers are locked before signers (database/locks/lock-order.md).
  if (await lockRelayer(tx, relayer.id, 'update')) throw idInUse(relayer)
  // This process keeps the key of a signer of the file after the signer's deletion, so the table decides.
  for (const id of [...new Set(signersOf(relayer))].sort())
    if ((await lockSigner(tx, id, 'share')) === undefined) throw signerNotFound(relayer, id)
  await requireNotification(tx, relayer.notificationId)
  await requireTreasury(tx, relayer)
  // The transactions of further accounts that a deleted relayer of this id had are part of the history.
  const hadAccounts = relayer.accounts === undefined && (await findAccountIds(tx, relayer.id)).length > 1
  const created = await insertRelayer(tx, {
    ...relayer,
    ...(hadAccounts && { accounts: [{ signerId: relayer.signerId, count: 1 }] }),
    address: accounts.addresses[0],
  })
  // A concurrent request created it after our lock found nothing.
  if (created === undefined) throw idInUse(relayer)
  await saveFurtherAccounts(tx, created, accounts.further ?? [])
  await reserveAccounts(tx, claimsOf(relayer.id, accounts))
  return created
}

function idInUse({ id }: RelayerConfig): AppError {
  return new AppError('already_exists', `id: there is a relayer "${id}" already.`)
}

function accountInUse(error: AccountInUseError): AppError {
  return new AppError('account_taken', `signer_id: ${error.message}.`, { cause: error })
}
