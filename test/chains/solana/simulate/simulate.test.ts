import type { Address } from '@solana/kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { associatedAddress, plantMint, plantTokens } from '../../../../simulators/solana/tokens.ts'
import {
  createWallet,
  openTokenAccount,
  transfer,
  transferTokens,
} from '../../../../simulators/solana/wallet.ts'
import type { Answer } from '../../../../src/chains/answer.ts'
import {
  createSimulationRefusals,
  SETTLE_MS,
  type SimulationOpinion,
} from '../../../../src/chains/simulations.ts'
import type { SolanaRequest } from '../../../../src/chains/solana/content.ts'
import { refuseIfAnySeesLoss } from '../../../../src/chains/solana/prepare/guarded-simulation.ts'
import type { SolanaChain } from '../../../../src/chains/solana/types.ts'
import { createHurriedClock, createTestClock, type HurriedClock } from '../../../support/clock.ts'
import { type RpcServer, startRpcServer } from '../../../support/rpc-server.ts'
import { accountWith, instructionsOf, OTHER, SELF, type Stage, sendOn, startStage } from '../build.ts'

describe('a simulation', () => {
  const SOL = 1_000_000_000n

  let stage: Stage
  let clock: HurriedClock
  let silent: RpcServer
  let mint: Address
  /** Holds a thousand tokens of the relayer. */
  let hoard: Address

  beforeEach(async () => {
    clock = createHurriedClock()
    stage = await startStage({ clock })
    silent = await startRpcServer(() => 'cut')
    mint = createWallet().address
    plantMint(stage.solana, mint, { decimals: 6 })
    hoard = await associatedAddress(SELF, mint)
    plantTokens(stage.solana, hoard, { mint, owner: SELF, amount: 1_000n })
  })
  afterEach(() => silent.stop())

  const prepare = (chain: SolanaChain, request: SolanaRequest) => chain.prepare(request, accountWith())
  const lagging = () => stage.solana.replica({ behind: 6 })
  const toNowhere = (fill = 1n) => instructionsOf(transferTokens(hoard, createWallet().address, SELF, fill))

  /** A payment of tokens to an account that a block has just opened. */
  async function toNewAccount(): Promise<SolanaRequest> {
    const loot = await associatedAddress(OTHER, mint)
    await sendOn(stage.chain, instructionsOf(openTokenAccount(SELF, loot, OTHER, mint)))
    stage.solana.tick(2)
    return instructionsOf(transferTokens(hoard, loot, SELF, 1n))
  }

  const FINAL = { kind: 'refused', refusal: { code: 'execution_reverted', detail: expect.any(String) } }
  const DOUBTED = { kind: 'refused', refusal: { ...FINAL.refusal, unanswered: true } }

  describe('a simulation that fails on one of several endpoints', () => {
    test('does not count when another endpoint that is not behind succeeds', async () => {
      const request = await toNewAccount()
      expect(await prepare(stage.chainAt(lagging()), request)).toEqual(DOUBTED)
      expect((await prepare(stage.chainAt(lagging(), stage.solana.url), request)).kind).toBe('ok')
    })

    test('is not final while another endpoint is silent, and passes when it has come as far', async () => {
      const request = await toNewAccount()
      const chain = stage.chainAt(lagging(), silent.url)
      expect(await prepare(chain, request)).toEqual(DOUBTED)
      stage.solana.tick(6)
      expect((await prepare(chain, request)).kind).toBe('ok')
    })

    test.each([
      { name: 'the newest', other: () => stage.solana.url },
      { name: 'one that is far behind', other: () => stage.solana.replica({ behind: 100 }) },
    ])('is final when $name answers as well, and the newest refuses', async ({ other }) => {
      const newest = other() === stage.solana.url ? lagging() : stage.solana.url
      expect(await prepare(stage.chainAt(newest, other()), toNowhere())).toEqual(FINAL)
    })

    test('is final a minute of slots later, and not before, so that a silent endpoint holds up nothing for ever', async () => {
      const request = toNowhere()
      const chain = stage.chainAt(stage.solana.url, silent.url)
      expect(await prepare(chain, request)).toEqual(DOUBTED)
      clock.advance(SETTLE_MS)
      stage.solana.tick(149)
      expect(await prepare(chain, request)).toEqual(DOUBTED)
      expect(await prepare(chain, toNowhere(2n))).toEqual(DOUBTED)
      stage.solana.tick()
      expect(await prepare(chain, request)).toEqual(FINAL)
    })

    test.each([
      { name: 'a success', request: () => instructionsOf(transfer(SELF, OTHER, 1n)), want: { kind: 'ok' } },
      {
        name: 'a lack of funds',
        request: () => instructionsOf(transfer(SELF, OTHER, 99n * SOL)),
        want: { kind: 'refused', refusal: { code: 'insufficient_balance' } },
      },
    ])('asks both endpoints, and a silent one does not change $name', async ({ request, want }) => {
      const chain = stage.chainAt(stage.solana.url, silent.url)
      expect(await prepare(chain, request())).toMatchObject(want)
      expect(silent.requests).not.toEqual([])
    })
  })
})

const refusedAs = (code: 'fee_payer_at_risk' | 'execution_reverted'): Answer<number> => ({
  kind: 'refused',
  refusal: { code, detail: 'no' },
})
const opinion = (answer: Answer<number>, behind = false): SimulationOpinion<number> => ({
  answer,
  head: behind ? 50n : 100n,
  behind,
})
const GOOD = opinion({ kind: 'ok', value: 1 })
const HARM = opinion(refusedAs('fee_payer_at_risk'))
const HARM_BEHIND = opinion(refusedAs('fee_payer_at_risk'), true)
const REVERT = opinion(refusedAs('execution_reverted'))

test.each([
  { name: 'a loss and a success', of: [HARM, GOOD], want: { code: 'fee_payer_at_risk', unanswered: true } },
  { name: 'a success and a loss', of: [GOOD, HARM], want: { code: 'fee_payer_at_risk', unanswered: true } },
  { name: 'two losses', of: [HARM, HARM], want: { code: 'fee_payer_at_risk' } },
  { name: 'a loss from behind and a success', of: [HARM_BEHIND, GOOD], want: 'ok' },
  { name: 'a failure and a success', of: [REVERT, GOOD], want: 'ok' },
])('one decision follows from $name of endpoints', ({ of, want }) => {
  const answer = createSimulationRefusals(150n, createTestClock()).settle('content', refuseIfAnySeesLoss(of))
  if (answer.kind === 'refused') expect(answer.refusal).toEqual({ ...Object(want), detail: 'no' })
  else expect(answer.kind).toBe(want)
})
