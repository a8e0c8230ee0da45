import type { Actor } from '../../access/actor.ts'
import { appendManagement } from '../../audit/append-store.ts'
import { AppError } from '../../errors.ts'
import { findRelayer, lockRelayer, raiseKnownNonce } from '../store.ts'
import type { ManageContext, ManagedRelayer } from './context.ts'

/** The decision of a caller that what the chain has used and the records do not explain is no reason to wait any more. */
interface AcceptedNonces {
  readonly id: string
  readonly reason: string
  readonly actor: Actor
}

/**
 * Takes the nonces of the relayer's accounts as the chain has them now, and checks the relayer, which enables it if nothing else is wrong.
 * @throws AppError 404 `relayer_not_found`; `not_supported` on chains without nonces; `network_unavailable`
 */
export async function acceptNonces(
  context: ManageContext,
  { id, reason, actor }: AcceptedNonces,
): Promise<ManagedRelayer> {
  const relayer = await findRelayer(context.db, id)
  if (relayer === undefined) throw notFound(id)
  const { chain, sourceAccounts } = await context.prepare(relayer)
  if (chain.sequencing === undefined)
    throw new AppError(
      'not_supported',
      `Relayer ${id} is on a network of type ${relayer.networkType}, whose accounts have no nonces.`,
    )
  const addresses = sourceAccounts.map(({ address }) => address)
  const answers = await chain.sequencing.nonces(addresses)
  const silent = answers.find((answer) => answer.kind === 'unknown')
  if (silent?.kind === 'unknown')
    throw new AppError(
      'network_unavailable',
      `The nonces are not known: ${silent.detail}. Nothing was changed.`,
    )
  const nonces = addresses.flatMap((address, index) => {
    const answer = answers[index]
    return answer?.kind === 'ok' ? [{ address, nonce: answer.value }] : []
  })
  await context.db.transaction().execute(async (tx) => {
    if ((await lockRelayer(tx, id, 'update')) === undefined) throw notFound(id)
    for (const one of nonces) await raiseKnownNonce(tx, { relayerId: id, ...one })
    const after = {
      reason,
      nonces: Object.fromEntries(nonces.map(({ address, nonce }) => [address, `${nonce}`])),
    }
    await appendManagement(tx, {
      author: actor,
      action: 'acceptNonces',
      target: { type: 'relayer', id },
      after,
    })
  })
  return { relayer: await context.checked(relayer), logs: [] }
}

function notFound(id: string): AppError {
  return new AppError('relayer_not_found', `There is no relayer ${id}.`)
}
