import type { Actor } from '../../access/principal.ts'
import { appendManagement } from '../../audit/append-store.ts'
import type { Answer } from '../../chains/answer.ts'
import type { Chain } from '../../chains/chain.ts'
import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { AppError, relayerNotFound } from '../../errors.ts'
import { findAccounts } from '../accounts/pool-store.ts'
import type { Relayer } from '../relayer.ts'
import { findRelayer, findUndecided, lockWithAccounts, raiseHistoryMark, raiseKnownNonce } from '../store.ts'
import type { ManageContext, ManagedRelayer } from './context.ts'

/**
 * The caller's decision that what the chain shows and the records do not explain is no longer a reason to
 * wait.
 */
interface AcceptedNonces {
  readonly id: string
  readonly reason: string
  readonly actor: Actor
}

/** The accepted nonces or transactions, ready to be stored, with the fields that the audit log notes. */
interface Accepted {
  readonly store: (tx: Tx) => Promise<void>
  readonly noted: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/**
 * Takes the nonces of the relayer's accounts as the chain has them now, or, where accounts have none, the
 * transactions of its account up to the newest final one. Then it checks the relayer, which enables it if
 * nothing else is wrong.
 * @throws AppError 404 `relayer_not_found`; `network_unavailable`; `relayer_has_transactions`
 */
export async function acceptNonces(
  context: ManageContext,
  { id, reason, actor }: AcceptedNonces,
): Promise<ManagedRelayer> {
  const relayer = await findRelayer(context.db, id)
  if (relayer === undefined) throw notFound(id)
  const accounts = (await findAccounts(context.db, [id])).get(id) ?? [relayer]
  const accepted: Accepted[] = []
  for (const account of accounts) {
    const { chain, sourceAccounts } = await context.prepare(account)
    const addresses = sourceAccounts.map(({ address }) => address)
    accepted.push(
      await (chain.sequencing === undefined
        ? readHistory(account, chain)
        : readNonces(account, addresses, chain.sequencing)),
    )
  }
  await transact(context.db, async (tx) => {
    if ((await lockWithAccounts(tx, id)) === undefined) throw notFound(id)
    for (const { store } of accepted) await store(tx)
    await appendManagement(tx, {
      author: actor,
      action: 'acceptNonces',
      target: { type: 'relayer', id },
      after: { reason, ...joined(accepted) },
    })
  })
  const [checked = relayer] = await Promise.all(accounts.map(context.checked))
  return { relayer: checked, logs: [] }
}

/** Joins what is noted of each account: nonces or slots, by address. Pure. */
function joined(accepted: readonly Accepted[]): Accepted['noted'] {
  const noted = accepted.map((one) => one.noted)
  const fields = new Set(noted.flatMap((one) => Object.keys(one)))
  return Object.fromEntries(
    [...fields].map((field) => [field, Object.assign({}, ...noted.map((one) => one[field]))]),
  )
}

async function readNonces(
  { id: relayerId }: Relayer,
  addresses: readonly string[],
  sequencing: NonNullable<Chain['sequencing']>,
): Promise<Accepted> {
  const answers = await sequencing.nonces(addresses)
  const nonces = addresses.flatMap((address, index) => {
    const answer = answers[index]
    if (answer?.kind === 'unknown') throw unavailable('nonces are', answer)
    return answer?.kind === 'ok' ? [{ address, nonce: answer.value }] : []
  })
  return {
    noted: { nonces: Object.fromEntries(nonces.map(({ address, nonce }) => [address, `${nonce}`])) },
    store: async (tx) => {
      for (const one of nonces) await raiseKnownNonce(tx, { relayerId, ...one })
    },
  }
}

const NOTHING_KNOWN = { withoutRecord: async () => [], unexplained: async () => [] }

async function readHistory(relayer: Relayer, chain: Chain): Promise<Accepted> {
  const { history } = chain.trustedChain ?? chain
  const answer = await history?.readAfter(relayer.address, undefined, NOTHING_KNOWN)
  if (answer?.kind !== 'ok') throw unavailable('history of the account is', answer)
  const { mark } = answer.value
  return {
    noted: { slots: { [relayer.address]: `${mark.slot}` } },
    store: async (tx) => {
      const undecided = await findUndecided(tx, relayer.id)
      if (undecided !== undefined) throw notDecided(undecided)
      await raiseHistoryMark(tx, relayer, mark)
    },
  }
}

/** Without the doubt, its attempts count as expired, and it is signed again. */
function notDecided(id: string): AppError {
  return new AppError(
    'relayer_has_transactions',
    `Transaction ${id} is undecided, and would be signed again. Decide first: relayer tx decide ${id}`,
  )
}

function unavailable(what: string, answer: Exclude<Answer<unknown>, { kind: 'ok' }> | undefined): AppError {
  const detail = answer?.kind === 'unknown' ? answer.detail : 'no endpoint answers'
  return new AppError('network_unavailable', `The ${what} not known: ${detail}. Nothing was changed.`)
}

function notFound(id: string): AppError {
  return relayerNotFound(id)
}
