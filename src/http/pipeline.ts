import { ANONYMOUS, requireScope } from '../access/principal.ts'
import { contractPages } from '../contract/docs.ts'
import type { ContractOperation } from '../contract/document.ts'
import { createBackend } from '../contract/router.ts'
import type { ContractValidator } from '../contract/validator.ts'
import { AppError } from '../errors.ts'
import {
  type AnswerBudget,
  callerOf,
  countAnswer,
  createAnswerBudget,
  tooManyLists,
} from './answers/answer-budget.ts'
import { errorBoundary, responseCheck } from './answers/error-boundary.ts'
import { answerOtherMethod } from './answers/failure.ts'
import { finishAnswer, preferredType, readRest } from './answers/send.ts'
import { sendResult } from './answers/send-result.ts'
import { type Authenticate, createAuthenticator, limitKeyOf } from './auth.ts'
import { type BodyReader, createBodyReader } from './body.ts'
import type { Connections } from './connections/connections.ts'
import { closeWhileDraining, type DrainState, keepAlive } from './connections/drain.ts'
import type { Peers } from './connections/peer.ts'
import type { Sockets } from './connections/sockets/sockets.ts'
import { acceptSockets, resolveSocket, type Upgrades } from './connections/sockets/upgrade.ts'
import { bodyTooSlow, type Deadline, HandlerContext, handlerTooSlow, startDeadline } from './deadline.ts'
import {
  admitByKey,
  admitByTicket,
  countFurther,
  countRequest,
  createMountCheck,
  createOriginCheck,
  type NetworkOfRelayer,
  type RedeemTicket,
  requireHost,
  requireValid,
  requireVisible,
} from './guards.ts'
import { assertHandlers, type RequestContext } from './handler.ts'
import { contractPath } from './observability/metrics-server.ts'
import { accessLog, observeRequests, requestId, traceRequests } from './observability/observe-requests.ts'
import { readConsoleFiles, serveConsole } from './pages/console.ts'
import { documentation } from './pages/documentation.ts'
import { listGuideFiles, serveGuides } from './pages/guides.ts'
import { createGuard } from './pages/pages.ts'
import { referencePages } from './pages/reference.ts'
import { signInPages } from './pages/sign-in.ts'
import type { RateLimiter } from './rate-limit.ts'
import type { HttpServerOptions, Limits, Mount } from './server-options.ts'
import type { Guard, HttpContext, Middleware } from './state.ts'

interface PipelineOptions extends HttpServerOptions {
  readonly limits: Limits
  readonly drainState: DrainState
  readonly peers: Peers
  readonly connections: Connections
  readonly sockets: Sockets
  readonly upgrades: Upgrades
}

/**
 * Creates the middleware of the server. The list is the order of a request: each middleware sees the request
 * on its way in, from top to bottom, and the answer on its way out.
 *
 * @throws Error if an operation has no handler
 */
export async function createPipeline(options: PipelineOptions): Promise<Middleware[]> {
  const { contract, validator, limiter, observer, tracer, log, clock, limits, connections, signIn } = options
  const onAuthenticated = ({ req }: HttpContext) => connections.markAuthenticated(req.socket)
  const answers = createAnswerBudget()
  const authenticate = createAuthenticator({ ...options, onAuthenticated })
  const guard = createGuard(authenticate, limiter)
  const count = (context: HttpContext) =>
    countRequest(limiter, { context, key: authenticate(context).limitKey })
  const guides = await listGuideFiles()
  const stages = {
    peers: options.peers,
    networkOf: options.networkOf,
    authenticate,
    limiter,
    answers,
    redeemTicket: options.redeemTicket,
    onAuthenticated,
    allowOrigin: createOriginCheck(options.corsOrigins ?? []),
    readBody: createBodyReader(limits),
    validator,
    guard,
  }
  return [
    requestId(),
    ...(tracer ? [traceRequests(tracer)] : []),
    ...(observer ? [observeRequests(observer)] : []),
    accessLog({ log, clock }),
    finishAnswer([
      ...(options.validateResponses ? [responseCheck({ validator, log })] : []),
      countAnswer(answers),
      readRest({ timeoutMs: limits.requestTimeoutMs }),
      keepAlive({ connections, limits }),
      closeWhileDraining(options.drainState),
    ]),
    errorBoundary({ log, explainFault: options.explainFault ?? (() => undefined) }),
    requireHost(),
    ...(options.mounts?.size ? [resolveMounts(options.mounts)] : []),
    acceptSockets({ ...options, authenticate, guard }),
    await operationsOfContract(options, stages),
    documentation({
      pages: [
        ...contractPages(contract),
        ...(await referencePages({
          contract,
          linksToConsole: options.serveConsole === true,
          linksToGuides: guides.length > 0,
        })),
      ],
      count,
    }),
    ...(signIn ? [signInPages({ signIn, peers: options.peers, count })] : []),
    ...(guides.length > 0 ? [serveGuides({ files: guides, count })] : []),
    ...(options.serveConsole ? [serveConsole({ files: await readConsoleFiles(), signIn, count })] : []),
    notFound(guard),
  ]
}

/**
 * Gives a request for a short path the longer one, notes if callers need no API key there, and tells browsers
 * whose pages may call it.
 */
function resolveMounts(mounts: ReadonlyMap<string, Mount>): Middleware {
  const checks = new Map([...mounts].map(([name, { corsOrigins }]) => [name, createMountCheck(corsOrigins)]))
  return function resolveMounts(context, next) {
    const [, name = '', rest] = /^\/([^/]+)\/(.+)$/s.exec(context.path) ?? []
    const mount = mounts.get(name)
    if (mount === undefined) return next()
    context.path = `${mount.prefix}${rest}`
    checks.get(name)?.(context)
    resolveSocket(context, mount, rest ?? '')
    context.state.isOpen = mount.isOpen && context.headers.authorization === undefined
    return next()
  }
}

interface Stages {
  readonly peers: Peers
  readonly networkOf: NetworkOfRelayer
  readonly authenticate: Authenticate
  readonly limiter: RateLimiter
  readonly answers: AnswerBudget
  readonly redeemTicket: RedeemTicket
  readonly onAuthenticated: (context: HttpContext) => void
  readonly allowOrigin: (context: HttpContext) => void
  readonly readBody: BodyReader
  readonly validator: ContractValidator
  readonly guard: Guard
}

/**
 * Routes a request with openapi-backend: it finds the operation and calls the handler that is registered
 * here. A path outside the contract goes on to the next middleware. The security handlers of openapi-backend
 * stay unused, and its validation is called in `serve`, because the library fixes their order out of sight.
 */
async function operationsOfContract(options: PipelineOptions, stages: Stages): Promise<Middleware> {
  const { contract, handlers, limits } = options
  const { router } = options.validator
  assertHandlers(contract, handlers)
  const backend = await createBackend(router)
  for (const operation of contract.operations) {
    const handler = handlers[operation.id] as AnyHandler
    const service = { ...stages, operation, handler, timeoutMs: limits.requestTimeoutMs }
    backend.register(operation.id, ({ request }, context: HttpContext) =>
      serve(service, { context, params: request.params as PathParams }),
    )
  }
  backend.register({
    notFound: (_, _context, next) => next(),
    methodNotAllowed: (_, context: HttpContext) =>
      answerOtherMethod(context, {
        allowed: router.allowedMethods(contractPath(context.path)),
        guard: stages.guard,
      }),
  })
  return function operationsOfContract(context, next) {
    const { method, path } = context
    return backend.handleRequest({ method, path: contractPath(path), headers: {} }, context, next)
  }
}

type AnyHandler = (input: unknown, context: RequestContext) => Promise<unknown>
type PathParams = Readonly<Record<string, string>>

interface Service extends Stages {
  readonly operation: ContractOperation
  readonly handler: AnyHandler
  readonly timeoutMs: number
}

/** Serves a routed request: credential, rate limit, scope, body, validation, visibility, handler, answer. */
async function serve(
  service: Service,
  { context, params }: { readonly context: HttpContext; readonly params: PathParams },
): Promise<void> {
  const { operation, authenticate, limiter, answers, readBody, validator, handler } = service
  context.state.operation = operation
  context.state.ids = params
  // Pages of browsers need no other operation, and must not have an API key.
  if (operation.ticketParameter !== undefined) service.allowOrigin(context)

  // The limit also counts unauthenticated callers, so that no one can try keys faster than it allows.
  const caller = authenticate(context)
  if (operation.rateLimited) countRequest(limiter, { context, key: caller.limitKey })
  const { isOpen = false } = context.state
  const byKey = isOpen
    ? { principal: undefined, querystring: context.querystring }
    : admitByKey(context, { operation, caller })
  const deadline = startDeadline(context, service.timeoutMs)
  const admission = byKey ?? (await deadline.race(admitByTicket(context, service), handlerTooSlow))
  const { principal = ANONYMOUS } = admission
  if (principal !== ANONYMOUS) context.state.apiKeyId = principal.id
  context.state.caller = principal === ANONYMOUS ? caller.limitKey : limitKeyOf(principal)
  if (!isOpen) requireScope(principal, operation.scope)
  if (operation.rateLimited)
    answers.admit(context.state.caller, operation.method === 'GET' ? 'read' : 'change')

  const body =
    operation.body && (await deadline.race(readBody(context, operation.body.mediaTypes), bodyTooSlow))
  const { querystring, filter: ticketFilter } = admission
  const header = (name: string) => headerOf(context, name)
  const input = requireValid(validator.request(operation.id, { path: params, querystring, header, body }))

  const visible = requireVisible(principal, params.relayer_id, service.networkOf)
  if (visible !== undefined) await deadline.race(visible, handlerTooSlow)

  const { requestId } = context.state
  // Operations that spend have this header.
  const { 'User-Id': userId }: { readonly 'User-Id'?: string } = input.header
  const mediaType = preferredType(context.get('Accept'), operation.successMediaTypes)
  const actor = {
    keyId: principal.id,
    person: principal.person,
    address: service.peers.ofRequest(context.req),
    requestId,
    rules: principal.rules,
    userId,
  }
  const further = (units: number) => countFurther(limiter, { context, key: caller.limitKey }, units)
  const { headers } = context
  const { body: bytes } = context.request as { readonly body?: Uint8Array }
  const facts = {
    requestId,
    principal,
    actor,
    ticketFilter,
    mediaType,
    headers,
    bytes,
    countFurther: further,
  }
  const run = () => handler(input, new HandlerContext(facts, deadline))
  const result = operation.readsList
    ? await readInTurn(service, { context, deadline, run })
    : await deadline.race(run(), handlerTooSlow)
  deadline.met()
  sendResult(context, { operation, answers }, result)
}

interface ListRead {
  readonly context: HttpContext
  readonly deadline: Deadline
  readonly run: () => Promise<unknown>
}

/**
 * Reads a list in its turn among those of the same caller. Nothing is read for a caller who has left, or
 * leaves earlier answers unread.
 */
function readInTurn({ answers, operation }: Service, { context, deadline, run }: ListRead): Promise<unknown> {
  const caller = callerOf(context)
  let begun = false
  const work = answers.make(caller, async () => {
    if (deadline.isOver) throw tooManyLists()
    if (operation.rateLimited) answers.admit(caller, 'list')
    begun = true
    return run()
  })
  return deadline.race(work, () => (begun || !operation.rateLimited ? handlerTooSlow() : tooManyLists()))
}

/**
 * Joins the values of a repeated header. Node joins most of them itself; the contract declares none of the
 * others.
 */
function headerOf(context: HttpContext, name: string): string | undefined {
  const value = context.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** Answers the paths that neither the contract nor a page has. */
function notFound(guard: Guard): Middleware {
  return function notFound(context) {
    guard(context)
    throw new AppError('not_found', 'There is nothing at this path.')
  }
}
