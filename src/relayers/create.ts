import type { Transaction } from 'kysely'
import type { RelayerConfig } from '../config.ts'
import type { Schema } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import type { Network } from '../networks/network.ts'
import { lockSigner } from '../signers/store.ts'
import { accountsOf, doubleAccounts, type RelayerAccounts } from './accounts.ts'
import { checkGivenEndpoints } from './given-endpoints.ts'
import { MissingSignerError } from './lines.ts'
import type { ManageDeps, Managed } from './managed.ts'
import { AccountTakenError, claimAccounts } from './operated-store.ts'
import { placeOf } from './place.ts'
import { referTo } from './refer.ts'
import type { Relayer } from './relayer.ts'
import { insertRelayer, lockRelayer } from './store.ts'

/** Everything that others are asked comes first: no database transaction is open while they are (I9). */
export async function createRelayer(deps: ManageDeps, relayer: RelayerConfig): Promise<Managed> {
  const network = placeOf(deps.networks, relayer)
  const accounts = await findAccounts(deps, relayer, network)
  const { customRpcUrls } = relayer
  const logs = customRpcUrls ? await checkGivenEndpoints(deps, network, customRpcUrls) : []
  const created = await deps.db
    .transaction()
    .execute((tx) => store(tx, relayer, accounts))
    .catch((error: unknown) => {
      throw error instanceof AccountTakenError ? taken(error) : error
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
    const [double] = doubleAccounts(new Map([[relayer.id, accounts]]))
    if (double !== undefined) throw new AppError('invalid_request', `channels: ${double}.`)
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
  await claimAccounts(tx, relayer.id, accounts)
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

function taken(error: AccountTakenError): AppError {
  return new AppError('account_taken', `signer_id: ${error.message}.`, { cause: error })
}
