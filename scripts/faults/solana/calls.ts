import { address } from '@solana/kit'
import {
  advanceNonce,
  createWallet,
  type Step,
  signContent,
  transfer,
} from '../../../simulators/solana/wallet.ts'
import { RECEIVER } from '../../../test/support/solana-scenario.ts'
import { type PlannedRequest, replace, send } from '../call.ts'
import { type HistoryRun, targetOf } from '../history-run.ts'
import { accountAt, CUSTOMERS, type Environment } from './environment.ts'
import type { Event, Speed } from './event.ts'

/** A new transfer. */
export function sendPayment(
  environment: Environment,
  run: HistoryRun,
  { account, speed, durable, validForMs }: Extract<Event, { is: 'send' }>,
): Promise<void> {
  return send(run, account, { ...plannedRequest(environment, { account, speed, durable }), validForMs })
}

/** Another transfer in place of one. A durable nonce is the service's to take over. */
export function replacePayment(
  environment: Environment,
  run: HistoryRun,
  { target, speed }: Extract<Event, { is: 'replace' }>,
): Promise<void> {
  return replace(run, target, () =>
    plannedRequest(environment, { account: targetOf(run, target)?.account ?? 0, speed, durable: false }),
  )
}

/** What a customer pays and has signed, for the relayer to sign first. No one but the customer could give it more time. */
export function sendCosigned(
  { solana, newContent }: Environment,
  run: HistoryRun,
  { account, customer, age }: Extract<Event, { is: 'cosign' }>,
): Promise<void> {
  const from = CUSTOMERS[customer] ?? CUSTOMERS[0]
  const { blocks } = solana
  const block = blocks[Math.max(0, blocks.length - 1 - age)]
  if (block === undefined) throw new Error('there are no blocks')
  const content = newContent()
  // What stands in the place of the relayer's signature does not count.
  const payer = { ...createWallet(), address: accountAt(account).address }
  const { base64 } = signContent({
    signers: [payer, from],
    blockhash: block.blockhash,
    steps: [transfer(from.address, address(RECEIVER), content.amount)],
  })
  return send(run, account, {
    content,
    body: { transaction: base64 },
    may: { mayRevert: true, mayExpire: true, mayFail: true },
  })
}

function plannedRequest(
  { newContent, nonces }: Environment,
  { account, speed, durable }: { account: number; speed: Speed; durable: boolean },
): PlannedRequest {
  const content = newContent()
  const self = accountAt(account).address
  const nonce = durable ? nonces[account] : undefined
  const steps = [
    ...(nonce === undefined ? [] : [advanceNonce(nonce, self)]),
    transfer(self, address(RECEIVER), content.amount),
  ]
  return {
    content,
    body: { instructions: steps.map(toWire), ...(speed === 'none' ? {} : { speed }) },
    // Money can go before it is included.
    may: { mayRevert: true },
  }
}

/** An instruction as requests write it. */
function toWire({ program, accounts, data }: Step): object {
  return {
    program_id: program,
    accounts: accounts.map(({ address: pubkey, signs = false, writes = false }) => ({
      pubkey,
      is_signer: signs,
      is_writable: writes,
    })),
    data: Buffer.from(data).toString('base64'),
  }
}
