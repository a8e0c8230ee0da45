import type { Transaction } from 'kysely'
import type { RelayerConfig } from '../config/load.ts'
import type { Schema } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import type { Network } from '../networks/network.ts'
import { lockSigner } from '../signers/store.ts'
import { AccountInUseError, reserveAccounts } from './account-claims-store.ts'
import { accountsOf, duplicateAccounts, type RelayerAccounts } from './accounts.ts'
import type { ManageDeps, Managed } from './managed.ts'
import { referTo } from './refer.ts'
import type { Relayer } from './relayer.ts'
import { resolveNetwork } from './resolve-network.ts'
import { MissingSignerError } from './source-accounts.ts'
import { insertRelayer, lockRelayer } from './store.ts'
import { checkUntrustedEndpoints } from './untrusted-endpoints.ts'

/** Everything that others are asked comes first: no database transaction is open while they are (I9). */
export async function createRelayer(deps: ManageDeps, relayer: RelayerConfig): Promise<Managed> {
  const network = resolveNetwork(deps.networks, relayer)
  const accounts = await findAccounts(deps, relayer, network)
  const { customRpcUrls } = relayer
  const logs = customRpcUrls ? await checkUntrustedEndpoints(deps, network, customRpcUrls) : []
  const created = await deps.db
    .transaction()
    .execute((tx) => store(tx, relayer, accounts))
    .catch((error: unknown) => {
      throw error instanceof AccountInUseError ? accountInUse(error) : error
    })
  return { relayer: await deps.checked(created), logs }
}

async function findAccounts(
  { findKey }: ManageDeps,
  relayer: RelayerConfig,
  network: Network,
): Promise<RelayerAccounts> {
  try {
    const accounts = await accountsOf(relayer, network, findKey)
    const [duplicate] = duplicateAccounts(new Map([[relayer.id, accounts]]))
    if (duplicate !== undefined) throw new AppError('invalid_request', `channels: ${duplicate}.`)
    return accounts
  } catch (error) {
    throw error instanceof MissingSignerError ? noSigner(relayer, error.signerId) : error
  }
}

async function store(
  tx: Transaction<Schema>,
  relayer: RelayerConfig,
  accounts: RelayerAccounts,
): Promise<Relayer> {
  // Relayers first, as whoever applies the configuration locks them first: two who go one way do not wait for each other.
  if (await lockRelayer(tx, relayer.id, 'update')) throw isThere(relayer)
  // The keys of the file are known to this process even when their signer was deleted, so the table decides.
  for (const id of [...new Set(signersOf(relayer))].sort())
    if ((await lockSigner(tx, id, 'share')) === undefined) throw noSigner(relayer, id)
  await referTo(tx, relayer.notificationId)
  const created = await insertRelayer(tx, { ...relayer, address: accounts.addresses[0] })
  // Somebody else was faster.
  if (created === undefined) throw isThere(relayer)
  await reserveAccounts(tx, relayer.id, accounts)
  return created
}

function signersOf(relayer: RelayerConfig): readonly string[] {
  const { signerId } = relayer
  if (relayer.networkType !== 'stellar' || typeof relayer.channels !== 'object') return [signerId]
  return [signerId, ...relayer.channels]
}

function isThere({ id }: RelayerConfig): AppError {
  return new AppError('already_exists', `id: there is a relayer "${id}" already.`)
}

function noSigner({ signerId }: RelayerConfig, missing: string): AppError {
  const field = missing === signerId ? 'signer_id' : 'channels'
  return new AppError('signer_not_found', `${field}: there is no signer "${missing}".`)
}

function accountInUse(error: AccountInUseError): AppError {
  return new AppError('account_taken', `signer_id: ${error.message}.`, { cause: error })
}
