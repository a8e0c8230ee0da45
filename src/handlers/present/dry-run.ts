import type { Unit } from '../../chains/chain.ts'
import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { RuleResult } from '../../spending/rule.ts'
import { nameOf } from '../../spending/rules.ts'
import type { DryRun } from '../../transactions/requests/dry-run.ts'
import { CODECS } from '../codecs/codecs.ts'

/** Shows what would happen to a request. */
export function presentDryRun({ refusal, price, ...dryRun }: DryRun): Schemas['DryRun'] {
  const { value, cost, draft } = price ?? {}
  const fee = value === undefined || cost === undefined ? undefined : cost - value
  return omitUndefined({
    dry_run: true as const,
    accepted: refusal === undefined,
    awaits_approval: refusal === undefined && awaitsApproval(dryRun) ? (true as const) : undefined,
    code: refusal?.code,
    error: refusal?.detail,
    simulation: dryRun.simulation,
    unit: presentUnit(dryRun.unit),
    value: value?.toString(),
    max_fee: fee === undefined ? undefined : String(fee < 0n ? 0n : fee),
    max_cost: cost?.toString(),
    ...(draft && CODECS[draft.type].presentGas?.(draft)),
    balance: dryRun.balance?.toString(),
    reserved: dryRun.reserved?.toString(),
    rules: dryRun.results.map(presentRuleResult),
  })
}

function awaitsApproval({ results }: Pick<DryRun, 'results'>): boolean {
  return results.some(({ requiresApproval }) => requiresApproval)
}

function presentRuleResult({ rule, allowed, requiresApproval, detail, subject }: RuleResult) {
  return omitUndefined({
    spender: nameOf({ subject }),
    rule,
    allowed,
    requires_approval: requiresApproval ? (true as const) : undefined,
    detail,
  })
}

/** Returns the contract's name of the smallest unit of a network. */
export function presentUnit(unit: Unit): Schemas['RelayerBalance']['unit'] {
  return UNITS[unit]
}

const UNITS: Record<Unit, Schemas['RelayerBalance']['unit']> = {
  wei: 'wei',
  stroops: 'stroop',
  lamports: 'lamport',
}
