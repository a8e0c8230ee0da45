import { address } from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import { plantMint, plantTokens } from '../../../simulators/solana/tokens.ts'
import { someAddress } from '../../chains/solana/build.ts'
import { issueApprover } from '../../support/approver.ts'
import { issueLimited, outcomeOf, violationIn, violationsOfMain } from '../../support/limited-key.ts'
import {
  MAIN,
  RECEIVER,
  type SolanaScenario,
  startSolanaScenario,
  transfer,
} from '../../support/solana-scenario.ts'
import { until } from '../../support/until.ts'

const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
const [MINT, OWN, THEIRS] = [someAddress(201), someAddress(202), someAddress(203)]

let story: SolanaScenario

beforeAll(async () => {
  story = await startSolanaScenario({
    policies: {
      rules: {
        contracts: [SYSTEM_PROGRAM, TOKEN_PROGRAM],
        limits: [{ per: 'day', value: '5000000', count: 10 }],
      },
    },
  })
  plantMint(story.solana, MINT, { decimals: 0 })
  plantTokens(story.solana, OWN, { mint: MINT, owner: address(MAIN), amount: 100n })
  plantTokens(story.solana, THEIRS, { mint: MINT, owner: address(RECEIVER), amount: 0n })
}, 60_000)
afterAll(() => story.stop())

/** `TransferChecked` of the token program. */
function tokens(amount: bigint): object {
  const data = Buffer.alloc(10)
  data.writeUInt8(12)
  data.writeBigUInt64LE(amount, 1)
  const accounts = [
    { pubkey: OWN, is_signer: false, is_writable: true },
    { pubkey: MINT, is_signer: false, is_writable: false },
    { pubkey: THEIRS, is_signer: false, is_writable: true },
    { pubkey: MAIN, is_signer: true, is_writable: false },
  ]
  return { instructions: [{ program_id: TOKEN_PROGRAM, accounts, data: data.toString('base64') }] }
}

test('lamports and a token have budgets of their own, and fees count what was charged', async () => {
  const key = await issueLimited(story.service, {
    assets: ['native', MINT],
    limits: [
      { per: 'day', value: '1000', fees: '1000000', count: 3 },
      { per: 'day', asset: MINT, value: '5' },
    ],
  })
  expect(violationIn(await key.send(tokens(6n)))).toBe(
    `Rule limits[1].value of API key ${key.id}: value of ${MINT} up to 5 per day on solana:local; 5 is left, and this transaction needs up to 6.`,
  )
  const sent = [await key.send(transfer(600n)), await key.send(tokens(5n))]
  expect(sent.map(({ body }) => body.error)).toEqual([undefined, undefined])
  for (const body of [transfer(401n), tokens(1n)])
    expect(outcomeOf(await key.send(body))).toBe('400 rule_violated')
  const lamports = story.solana.account(MAIN)?.lamports ?? 0n
  for (const { body } of sent) await story.tickUntil(body.data.id, 'confirmed')
  const charged = lamports - 600n - (story.solana.account(MAIN)?.lamports ?? 0n)
  const { limits } = await until(
    () => key.usage(),
    (usage) => usage.limits[0]?.fees?.spent === String(charged),
  )
  expect(limits).toMatchObject([
    { asset: 'native', value: { spent: '600', left: '400' }, count: { spent: '2', left: '1' } },
    { asset: MINT, value: { spent: '5', left: '0' } },
  ])
})

test('tokens above the amount, and a new token account, wait until another key approves them', async () => {
  const rule = { above: [{ asset: MINT, value: '4' }], new_receivers: true }
  const key = await issueLimited(story.service, { require_approval: rule, contracts: [TOKEN_PROGRAM] })
  const approver = await issueApprover(story.service)
  const first = (await key.send(tokens(1n))).body.data
  expect(first).toMatchObject({
    awaits_approval: true,
    status_reason: expect.stringContaining(`no approved transaction has paid ${THEIRS} on solana:local.`),
  })
  expect(outcomeOf(await approver.decide(first.id, 'approve'))).toBe('200')
  await story.tickUntil(first.id, 'confirmed')
  expect((await key.send(tokens(2n))).body.data.awaits_approval).toBeUndefined()
  const more = (await key.send(tokens(5n))).body.data
  expect(more.status_reason).toContain(
    `a value above 4 ${MINT} on solana:local needs an approval, and this transaction moves 5.`,
  )
  expect(outcomeOf(await approver.decide(more.id, 'refuse'))).toBe('200')
  expect((await story.get(more.id)).status).toBe('canceled')
})

test('what expires without being included is given back after its cancellation', async () => {
  const key = await issueLimited(story.service, { limits: [{ per: 'day', value: '1000', count: 1 }] })
  const { body } = await key.send(transfer(700n))
  await story.reach(body.data.id, 'submitted')
  expect((await key.usage()).limits[0]).toMatchObject({ value: { left: '300' }, count: { left: '0' } })
  await key.call('DELETE', `/relayers/main/transactions/${body.data.id}`)
  story.solana.dropPending()
  story.solana.tick(160)
  await story.tickUntil(body.data.id, 'canceled')
  await until(
    () => key.usage(),
    ({ limits: [limit] }) => limit?.value?.left === '1000' && limit.count?.left === '1',
  )
})

test('the rules of the configuration refuse a program and a larger sum, whoever sends', async () => {
  const memo = { program_id: MEMO_PROGRAM, accounts: [], data: Buffer.from('hello').toString('base64') }
  expect(await violationsOfMain(story, [{ instructions: [memo] }, transfer(5_000_001n)])).toEqual([
    `Rule contracts of relayer main: ${MEMO_PROGRAM} is not among the contracts.`,
    expect.stringMatching(/^Rule limits\[0\]\.value of relayer main: .* needs up to 5000001\.$/),
  ])
})
