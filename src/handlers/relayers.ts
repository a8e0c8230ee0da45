import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { callerName, type Principal, seesEverything } from '../access/principal.ts'
import type { Schemas } from '../contract/operations.ts'
import type { Db } from '../database/db.ts'
import { AppError } from '../errors.ts'
import type { HandlerMap } from '../http/handler.ts'
import { omitUndefined } from '../lib/object.ts'
import { findNotification } from '../notifications/store.ts'
import { findAccounts } from '../relayers/accounts/pool-store.ts'
import type { RelayerChange } from '../relayers/manage/change.ts'
import { type ManagedRelayer, noNotification } from '../relayers/manage/context.ts'
import { inactive } from '../relayers/policies/policy.ts'
import type { Relayer, RelayerConfig } from '../relayers/relayer.ts'
import { listRelayers } from '../relayers/store.ts'
import { refuseOpaque } from '../transactions/budgets/spenders.ts'
import { type AccountState, fetchBalance, getAccountState } from '../transactions/requests/account-state.ts'
import { readTopUpState, type TopUpState } from '../transactions/top-up/top-up-store.ts'
import { CODECS } from './codecs/codecs.ts'
import { readCreation, readPatched } from './codecs/relayer.ts'
import { presentUnit } from './present/dry-run.ts'
import {
  presentAccount,
  presentHead,
  presentMessageSignature,
  presentRelayer,
  toPage,
} from './present/shared.ts'
import type { CoreParts, RelayerParts, Service, SigningParts } from './service.ts'
import { requireRelayer } from './transactions/transactions.ts'

/** The operations that list relayers and sign messages. */
export function relayerHandlers({
  db,
  relayerOf,
  runtimeOf,
  prepare,
  recordSignature,
}: CoreParts & RelayerParts & SigningParts): Pick<HandlerMap, 'listRelayers' | 'signMessage'> {
  return {
    listRelayers: async ({ query }, { principal }) => {
      const page = toPage(query)
      const { items, total } = await listRelayers(db, page, principal.visibility)
      const accounts = await findAccounts(
        db,
        items.flatMap((relayer) => (relayer.accounts === undefined ? [] : [relayer.id])),
      )
      return {
        data: await Promise.all(
          items.map(async (relayer) =>
            presentRelayer(relayer, await prepare(relayer), accounts.get(relayer.id)),
          ),
        ),
        pagination: page.describe(total),
      }
    },
    signMessage: async ({ path, body }, { actor }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const refusal = inactive(relayer)
      if (refusal) throw refusal
      refuseOpaque(relayer, actor)
      const { chain, account } = runtimeOf(relayer)
      const signature = await chain.signMessage(body.message, account.signer)
      const sha256 = createHash('sha256').update(body.message).digest('hex')
      await recordSignature({ relayerId: relayer.id, action: 'signMessage', actor, sha256 })
      return { data: presentMessageSignature(signature) }
    },
  }
}

type Operations = 'createRelayer' | 'getRelayer' | 'updateRelayer' | 'deleteRelayer' | 'acceptNonces'

/** The operations that create, read, change and delete one relayer. */
export function manageRelayersHandlers({
  db,
  relayerOf,
  prepare,
  manager,
}: CoreParts & RelayerParts): Pick<HandlerMap, Operations> {
  const present = async ({ relayer, logs }: ManagedRelayer) => ({
    data: presentRelayer(relayer, await prepare(relayer), await accountsOf(db, relayer)),
    logs,
  })
  return {
    createRelayer: async ({ body }, { principal, actor }) => {
      const relayer = readCreation(body)
      requireTopUpRights(principal, relayer)
      requireEndpointRights(principal, relayer)
      return present(await manager.create(relayer, actor))
    },
    getRelayer: async ({ path }) =>
      present({ relayer: await requireRelayer(relayerOf, path.relayer_id), logs: [] }),
    updateRelayer: async ({ path, body }, { principal, actor }) => {
      await requireOwnRecords(db, body, principal)
      const change: RelayerChange = (relayer, initial) => {
        const wanted = readPatched(relayer, body, initial)
        requireTopUpRights(principal, wanted, relayer)
        requireEndpointRights(principal, wanted, relayer)
        return wanted
      }
      return present(await manager.change(path.relayer_id, change, actor))
    },
    acceptNonces: async ({ path, body }, { actor }) =>
      present(await manager.acceptNonces(path.relayer_id, body.reason, actor)),
    deleteRelayer: async ({ path }, { actor }) => {
      await manager.delete(path.relayer_id, actor)
      return { data: 'Relayer deleted successfully' }
    },
  }
}

/** Reads the accounts of a relayer with several, its own first; undefined for one that never had others. */
async function accountsOf(db: Db, { id, accounts }: Relayer): Promise<readonly Relayer[] | undefined> {
  return accounts === undefined ? undefined : (await findAccounts(db, [id])).get(id)
}

/**
 * A key that is limited to some relayers cannot connect them with anything that it does not see: a webhook of
 * others would get their events, and responses would reveal the accounts of signers.
 * @throws AppError `insufficient_scope`, 404 `notification_not_found`
 */
async function requireOwnRecords(
  db: Db,
  { signer_id: signerId, accounts, notification_id: notificationId }: Schemas['UpdateRelayerRequest'],
  { id, visibility }: Principal,
): Promise<void> {
  if (seesEverything(visibility)) return
  if (signerId !== undefined || accounts !== undefined)
    throw new AppError(
      'insufficient_scope',
      `API key ${id} is limited to some relayers, and cannot change ${signerId === undefined ? 'accounts' : 'signer_id'}.`,
    )
  if (typeof notificationId !== 'string' || (await findNotification(db, notificationId, visibility))) return
  throw noNotification(notificationId)
}

/** The operations about the account of a relayer. */
export function relayerStateHandlers(
  service: Service,
): Pick<HandlerMap, 'getRelayerStatus' | 'getRelayerBalance'> {
  const { clock, relayerOf, runtimeOf } = service
  return {
    getRelayerStatus: async ({ path }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const state = await getAccountState(service, relayer)
      const topUp = relayer.policies.topUp && (await readTopUpState(service.db, relayer.id))
      const accounts = await readAccountStates(service, relayer)
      return {
        data: omitUndefined({ ...presentState(relayer, state), ...presentTopUp(topUp), accounts }),
        logs: state.logs,
      }
    },
    getRelayerBalance: async ({ path }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { chain } = runtimeOf(relayer)
      const balance = await fetchBalance(clock, { chain, address: relayer.address })
      if (balance.kind !== 'ok') throw unavailable(balance)
      const accounts = await readBalances(service, relayer)
      return { data: omitUndefined({ balance: balance.value, unit: presentUnit(chain.unit), accounts }) }
    },
  }
}

function presentState(relayer: Relayer, state: AccountState): Schemas['RelayerStatus'] {
  const { balance, open, deferred, oldestOpenAt, lastConfirmedAt, head } = state
  return omitUndefined({
    network_type: relayer.networkType,
    balance: balance?.toString(),
    ...CODECS[relayer.networkType].presentNumber?.(state),
    pending_transactions_count: open,
    deferred_transactions_count: deferred || undefined,
    oldest_pending_transaction_timestamp: oldestOpenAt?.toISOString(),
    last_confirmed_transaction_timestamp: lastConfirmedAt?.toISOString(),
    system_disabled: relayer.systemDisabled,
    paused: relayer.paused,
    network_head: head && presentHead(head),
  })
}

/** Reads the states of the accounts of a relayer with several, its own first. */
async function readAccountStates(
  service: Service,
  relayer: Relayer,
): Promise<Schemas['RelayerAccountStatus'][] | undefined> {
  const accounts = await accountsOf(service.db, relayer)
  return (
    accounts &&
    Promise.all(
      accounts.map(async (account) => {
        await service.prepare(account)
        const state = await getAccountState(service, account)
        return omitUndefined({
          ...presentAccount(account),
          balance: state.balance?.toString(),
          ...CODECS[account.networkType].presentNumber?.(state),
          pending_transactions_count: state.open,
        })
      }),
    )
  )
}

/** Reads the balances of the accounts of a relayer with several. One that no endpoint returns is absent. */
async function readBalances(
  { db, clock, prepare }: CoreParts & RelayerParts,
  relayer: Relayer,
): Promise<Schemas['AccountBalance'][] | undefined> {
  const accounts = await accountsOf(db, relayer)
  return (
    accounts &&
    Promise.all(
      accounts.map(async (account) => {
        const { address } = account
        const balance = await fetchBalance(clock, { chain: (await prepare(account)).chain, address })
        return { address, ...(balance.kind === 'ok' && { balance: balance.value }) }
      }),
    )
  )
}

function presentTopUp(topUp: TopUpState | undefined): Pick<Schemas['RelayerStatus'], 'top_up'> {
  if (topUp === undefined) return {}
  const { state, code, transactionId, retryAt } = topUp
  return {
    top_up: omitUndefined({ state, code, transaction_id: transactionId, retry_at: retryAt?.toISOString() }),
  }
}

function unavailable(cause: unknown): AppError {
  return new AppError('network_unavailable', 'No node of the network answers. Try again.', {
    cause,
  })
}

/**
 * Refuses endpoints from a key that may not choose them for a whole network: they answer whether a payment
 * was made, and what it cost. To end custom_rpc_urls needs no further right.
 * @throws AppError `insufficient_scope`
 */
function requireEndpointRights(
  { id, may, rules }: Principal,
  wanted: RelayerConfig,
  present?: RelayerConfig,
): void {
  const { customRpcUrls } = wanted
  if (customRpcUrls === undefined || isDeepStrictEqual(customRpcUrls, present?.customRpcUrls)) return
  if (!may('networks:admin'))
    throw new AppError(
      'insufficient_scope',
      `custom_rpc_urls: ${callerName(id)} lacks networks:admin; it is required to choose a relayer's endpoints.`,
    )
  if (rules !== undefined)
    throw new AppError(
      'insufficient_scope',
      `custom_rpc_urls: API key ${id} is limited by rules, and endpoints report what was spent; use a key without rules.`,
    )
}

/**
 * Refuses a top_up from a key that may not spend the money of the treasury as it likes: the relayer that is
 * filled would pass the money on. The scope relayers:admin cannot be limited to relayers. To end a top_up
 * needs no further right.
 * @throws AppError `insufficient_scope`
 */
function requireTopUpRights(
  { id, may, rules }: Principal,
  wanted: RelayerConfig,
  present?: RelayerConfig,
): void {
  const { topUp } = wanted.policies
  if (topUp === undefined || isDeepStrictEqual(topUp, present?.policies.topUp)) return
  const missing = (['relayers:admin', 'transactions:write'] as const).filter((scope) => !may(scope))
  if (missing.length > 0)
    throw new AppError(
      'insufficient_scope',
      `policies.top_up: ${callerName(id)} lacks ${missing.join(' and ')}; both are required to let a relayer spend another one's money.`,
    )
  if (rules !== undefined)
    throw new AppError(
      'insufficient_scope',
      `policies.top_up: API key ${id} is limited by rules, which would not limit a top_up; use a key without rules.`,
    )
}
