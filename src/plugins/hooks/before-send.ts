import { setTimeout as pause } from 'node:timers/promises'
import { seesRelayerId } from '../../access/principal.ts'
import { stringifyJson } from '../../contract/exact-integers.ts'
import { AppError } from '../../errors.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { Logger } from '../../log.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { RuleResult } from '../../spending/rule.ts'
import type { BeforeSend, ProposedContent } from '../../transactions/model/before-send.ts'
import type { PluginOutcome } from '../host.ts'
import type { Plugin } from '../manage.ts'
import { keyIdOf, MAX_DEPTH } from '../plugin.ts'
import type { BeforeSendHook, HookObserver } from './hook.ts'

interface BeforeSendDeps {
  readonly plugins: readonly Plugin[]
  readonly log: Logger
  /** Writes content in the form in which the contract shows a transaction. */
  readonly showContent: (relayer: Relayer, request: NonNullable<ProposedContent['request']>) => object
  /** Absent if metrics are off. */
  readonly observer?: HookObserver | undefined
}

/** The rule of the answers, beside those that an operator configures. */
const RULE = 'before_send'

/** Characters of the reason of a plugin. */
const MAX_REASON = 500

/** Seconds after which a caller may try again, if a plugin does not answer. */
const RETRY_SECONDS = 5

/** The answer of a plugin. */
type Decision = { readonly kind: 'allow' } | { readonly kind: 'refuse' | 'approval'; readonly reason: string }

/** Makes what asks every plugin with the hook, at the same time. Undefined if no plugin has it. */
export function createBeforeSend({ plugins, ...deps }: BeforeSendDeps): BeforeSend | undefined {
  const asked = plugins.flatMap((plugin) => {
    const hook = plugin.config.hooks.before_send
    return hook ? [{ plugin, hook }] : []
  })
  if (asked.length === 0) return undefined
  return async (content) => {
    const concerned = asked.filter(({ plugin }) => concerns(plugin, content))
    if (concerned.length === 0) return []
    const params = stringifyJson(paramsOf(content, deps.showContent))
    const answers = await Promise.allSettled(
      concerned.map(({ plugin, hook }) => ask(deps, { plugin, hook, content, params })),
    )
    return answers.map((answer) => {
      if (answer.status === 'rejected') throw answer.reason
      return answer.value
    })
  }
}

/** A plugin is not asked about its own requests: it would wait for itself. */
function concerns({ config: { id, rights } }: Plugin, { relayer, actor }: ProposedContent): boolean {
  return seesRelayerId(rights.visibility, poolIdOf(relayer.id)) && actor.keyId !== keyIdOf(id)
}

function paramsOf(
  { action, relayer, actor, request, effects, transactionId, lane, isDryRun = false }: ProposedContent,
  showContent: BeforeSendDeps['showContent'],
): object {
  const { unread, ...read } = effects
  const shown = ({ asset, value }: { readonly asset: string; readonly value: bigint }) => {
    return { asset, value: String(value) }
  }
  return omitUndefined({
    action,
    dry_run: isDryRun,
    relayer_id: poolIdOf(relayer.id),
    network_type: relayer.networkType,
    network: relayer.network,
    from: relayer.address,
    api_key_id: actor.keyId,
    user_id: actor.userId,
    request_id: actor.requestId,
    transaction_id: transactionId,
    lane,
    transaction: request && showContent(relayer, request),
    effects: {
      ...read,
      amounts: effects.amounts.map(shown),
      allowances: effects.allowances.map(shown),
      unread: unread.map(({ target, asset }) => omitUndefined({ target, asset })),
    },
  })
}

interface Question {
  readonly plugin: Plugin
  readonly hook: BeforeSendHook
  readonly content: ProposedContent
  /** JSON. */
  readonly params: string
}

/** @throws AppError `plugin_unavailable` if it does not answer, and then refuses */
async function ask(
  { log, observer }: Pick<BeforeSendDeps, 'log' | 'observer'>,
  { plugin, hook, content, params }: Question,
): Promise<RuleResult> {
  const { id } = plugin.config
  const answer = await decisionOf(plugin, { hook, content, params })
  const result = (detail: string, rest: Pick<RuleResult, 'allowed' | 'requiresApproval'>): RuleResult => {
    return { subject: `plugin:${id}`, rule: RULE, detail: `Rule ${RULE} of plugin ${id}: ${detail}`, ...rest }
  }
  if ('problem' in answer) {
    observer?.decided(id, 'failed')
    log.warn(
      { plugin: id, problem: answer.problem, request_id: content.actor.requestId },
      'hook before_send failed',
    )
    if (hook.onFailure === 'allow')
      return result('it did not answer, and is set to allow then.', { allowed: true })
    throw new AppError(
      'plugin_unavailable',
      `Plugin ${id} has to be asked first, and did not answer. Nothing was done; try again.`,
      { retryAfterSeconds: RETRY_SECONDS, cause: answer.problem },
    )
  }
  switch (answer.kind) {
    case 'allow':
      observer?.decided(id, 'allowed')
      return result('it allows the request.', { allowed: true })
    case 'refuse':
      observer?.decided(id, 'refused')
      return result(answer.reason, { allowed: false })
    case 'approval':
      observer?.decided(id, 'approval')
      return result(answer.reason, { allowed: true, requiresApproval: true })
  }
}

async function decisionOf(
  plugin: Plugin,
  { hook, content, params }: Omit<Question, 'plugin'>,
): Promise<Decision | { readonly problem: string }> {
  const timeoutMs = hook.timeout * 1_000
  const deadline = performance.now() + timeoutMs
  // A plugin that never started would be waited for forever.
  const ended = new AbortController()
  const exported = await Promise.race([
    plugin.host.exports(RULE),
    pause(timeoutMs, undefined, { signal: ended.signal }).catch(() => undefined),
  ])
  ended.abort()
  if (exported === undefined) return { problem: 'Its process has not started.' }
  if (!exported) return { problem: `It exports no function ${RULE}.` }
  try {
    const outcome = await callHook(plugin, {
      entry: RULE,
      params,
      timeoutMs: Math.max(1, Math.ceil(deadline - performance.now())),
      requestId: content.actor.requestId,
    })
    return readDecision(outcome, hook.timeout)
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** A call of a hook. */
export interface HookCall {
  readonly entry: string
  /** JSON. */
  readonly params: string
  readonly timeoutMs: number
  readonly requestId?: string | undefined
}

/**
 * Calls a hook. It may use the API as every function of the plugin, except to call plugins.
 * @throws AppError `plugin_unavailable` if nothing was done
 */
export async function callHook(
  { host, settings }: Plugin,
  { requestId, ...call }: HookCall,
): Promise<PluginOutcome> {
  const { config, forwardLogs } = await settings()
  return host.run({
    ...call,
    config: config && JSON.stringify(config),
    route: '',
    method: '',
    query: {},
    headers: {},
    origin: { requestId, depth: MAX_DEPTH - 1 },
    forwardLogs,
    isAnonymous: false,
  })
}

/**
 * Reads the answer of a plugin. An error in its own words is a refusal; anything that is no answer is a
 * problem. Pure.
 */
function readDecision(outcome: PluginOutcome, timeout: number): Decision | { readonly problem: string } {
  switch (outcome.kind) {
    case 'timeout':
      return { problem: `It did not answer within ${timeout} s.` }
    case 'failed':
      return { problem: outcome.reason }
    case 'refused':
      return { kind: 'refuse', reason: asSentence(outcome.error.message) }
    case 'result':
      return readAnswer(JSON.parse(outcome.value))
  }
}

function readAnswer(value: unknown): Decision | { readonly problem: string } {
  if (value === null) return { kind: 'allow' }
  const { decision, reason } = (typeof value === 'object' ? value : {}) as Readonly<Record<string, unknown>>
  const sentence = typeof reason === 'string' ? asSentence(reason) : 'it gives no reason.'
  if (decision === 'allow') return { kind: 'allow' }
  if (decision === 'refuse') return { kind: 'refuse', reason: sentence }
  if (decision === 'require_approval') return { kind: 'approval', reason: sentence }
  return { problem: 'Its answer has no decision "allow", "refuse" or "require_approval".' }
}

/** A reason becomes a part of errors, records and the log, so it is one line. */
function asSentence(reason: string): string {
  const text = reason
    .replaceAll(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, MAX_REASON)
  if (text === '') return 'it gives no reason.'
  return /[.!?]$/.test(text) ? text : `${text}.`
}
