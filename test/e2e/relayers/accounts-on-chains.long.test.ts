import { expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { plainSigner, type Transaction } from '../../support/service.ts'
import {
  addressOf,
  SOL,
  RECEIVER as SOLANA_RECEIVER,
  seedOf,
  startSolanaScenario,
  transferBetween,
} from '../../support/solana-scenario.ts'
import { keypairOf, payment, startStellarScenario, XLM } from '../../support/stellar-scenario.ts'

const NAMES = ['main', 'second', 'third']
const ACCOUNTS = NAMES.map((name) => ({ signer_id: name }))

test('on Stellar each account pays its own payments, side by side in one ledger', async () => {
  const scenario = await startStellarScenario({
    signers: NAMES.map((name) => plainSigner(name, keypairOf(name).secret())),
  })
  onTestFinished(() => scenario.stop())
  const { ledger, service, send, closeUntil } = scenario
  const addresses = NAMES.map((name) => keypairOf(name).publicKey())
  for (const address of addresses.slice(1)) ledger.fund(address, 100n * XLM)
  await service.api('PATCH', '/relayers/main', { accounts: ACCOUNTS })
  const status = await service.api<Schemas['RelayerStatus']>('GET', '/relayers/main/status')
  expect(status.body.data.accounts?.map(({ address, state }) => [address, state])).toEqual(
    addresses.map((address) => [address, 'active']),
  )
  const sent: Transaction[] = []
  for (let value = 1; value <= 3; value += 1) sent.push(await send(payment(value)))
  expect(new Set(sent.map(({ from }) => from))).toEqual(new Set(addresses))
  for (const { id } of sent) await closeUntil(id, 'confirmed')
  const lane = await Promise.all(
    Array.from({ length: 4 }, (_, value) => send(payment(value + 1, { lane: 'order' }))),
  )
  expect(new Set(lane.map(({ from }) => from)).size).toBe(1)
  for (const { id } of lane) await closeUntil(id, 'confirmed')
})

test('on Solana a transaction goes to the account that it names, and one that names none to any', async () => {
  const scenario = await startSolanaScenario({
    signers: NAMES.map((name) => plainSigner(name, Buffer.from(seedOf(name)).toString('hex'))),
  })
  onTestFinished(() => scenario.stop())
  const { solana, service, send, tickUntil } = scenario
  for (const name of NAMES.slice(1)) solana.airdrop(addressOf(name), SOL)
  const changed = await service.api<Schemas['SolanaRelayer']>('PATCH', '/relayers/main', {
    accounts: ACCOUNTS,
  })
  expect(changed.body.data.accounts?.map(({ address }) => address)).toEqual(NAMES.map(addressOf))
  for (const name of ['third', 'second', 'main', 'third']) {
    const { id, from } = await send(transferBetween(addressOf(name), SOLANA_RECEIVER, 1_000_000n))
    expect(from).toBe(addressOf(name))
    await tickUntil(id, 'confirmed')
  }
  const memo = {
    instructions: [
      {
        program_id: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
        accounts: [],
        data: Buffer.from('hi').toString('base64'),
      },
    ],
  }
  const sent = [await send(memo), await send({ ...memo, lane: 'b' }), await send({ ...memo, lane: 'b' })]
  expect(sent[1]?.from).toBe(sent[2]?.from)
  for (const { id } of sent) await tickUntil(id, 'confirmed')
})
