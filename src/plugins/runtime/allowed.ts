/**
 * Everything of Node.js that code of a plugin can reach. The wall (`wall.ts`) removes or replaces whatever is
 * not named here, so a new version of Node.js adds nothing by itself. A test fails while the running version
 * has a module, an export, a member of `process` or a global that is neither here nor in its own list of
 * refused ones.
 */

/**
 * The built-in modules, each with its exports that are functions or objects. Exports that are texts, numbers
 * or flags are always allowed. A module that is absent here, and an export that is absent from its list, can
 * be imported, because many packages import more than they use; its functions refuse to run.
 */
export const MODULES: Readonly<Record<string, string>> = {
  assert:
    'AssertionError CallTracker ok fail equal notEqual deepEqual notDeepEqual deepStrictEqual notDeepStrictEqual strictEqual notStrictEqual partialDeepStrictEqual match doesNotMatch throws rejects doesNotThrow doesNotReject ifError strict Assert',
  'assert/strict':
    'AssertionError CallTracker ok fail equal notEqual deepEqual notDeepEqual deepStrictEqual notDeepStrictEqual strictEqual notStrictEqual partialDeepStrictEqual match doesNotMatch throws rejects doesNotThrow doesNotReject ifError strict Assert',
  async_hooks: 'AsyncLocalStorage AsyncResource executionAsyncId triggerAsyncId',
  buffer: 'Buffer SlowBuffer transcode isUtf8 isAscii btoa atob constants Blob resolveObjectURL File',
  console:
    'log info debug warn error dir time timeEnd timeLog trace assert clear count countReset group groupEnd table dirxml groupCollapsed Console',
  constants: '',
  crypto:
    'argon2 argon2Sync checkPrime checkPrimeSync createCipheriv createDecipheriv createDiffieHellman createDiffieHellmanGroup createECDH createHash createHmac createPrivateKey createPublicKey createSecretKey createSign createVerify diffieHellman generatePrime generatePrimeSync getCiphers getCipherInfo getCurves getDiffieHellman getHashes hkdf hkdfSync pbkdf2 pbkdf2Sync generateKeyPair generateKeyPairSync generateKey generateKeySync privateDecrypt privateEncrypt publicDecrypt publicEncrypt randomBytes randomFill randomFillSync randomInt randomUUID randomUUIDv7 scrypt scryptSync sign timingSafeEqual getFips verify hash encapsulate decapsulate Certificate Cipheriv Decipheriv DiffieHellman DiffieHellmanGroup ECDH Hash Hmac KeyObject Sign Verify X509Certificate constants webcrypto subtle getRandomValues prng pseudoRandomBytes rng',
  diagnostics_channel: 'channel hasSubscribers subscribe tracingChannel unsubscribe Channel',
  dns: 'lookup lookupService Resolver getDefaultResultOrder setDefaultResultOrder setServers getServers resolve resolve4 resolve6 resolveAny resolveCaa resolveCname resolveMx resolveNaptr resolveNs resolvePtr resolveSoa resolveSrv resolveTlsa resolveTxt reverse promises',
  'dns/promises':
    'lookup lookupService Resolver getDefaultResultOrder setDefaultResultOrder setServers getServers resolve resolve4 resolve6 resolveAny resolveCaa resolveCname resolveMx resolveNaptr resolveNs resolvePtr resolveSoa resolveSrv resolveTlsa resolveTxt reverse',
  events:
    'addAbortListener once on getEventListeners getMaxListeners listenerCount EventEmitter captureRejectionSymbol EventEmitterAsyncResource errorMonitor setMaxListeners init',
  http: '_connectionListener METHODS STATUS_CODES Agent ClientRequest IncomingMessage OutgoingMessage Server ServerResponse createServer validateHeaderName validateHeaderValue get request setMaxIdleHTTPParsers globalAgent WebSocket CloseEvent MessageEvent',
  https: 'Agent globalAgent Server createServer get request',
  module: 'createRequire builtinModules isBuiltin',
  net: '_normalizeArgs BlockList SocketAddress connect createConnection createServer isIP isIPv4 isIPv6 Server Socket Stream getDefaultAutoSelectFamily setDefaultAutoSelectFamily getDefaultAutoSelectFamilyAttemptTimeout setDefaultAutoSelectFamilyAttemptTimeout',
  os: 'arch availableParallelism cpus endianness freemem homedir hostname loadavg platform release tmpdir totalmem type uptime version machine constants',
  path: 'resolve normalize isAbsolute join relative toNamespacedPath dirname basename extname format parse matchesGlob win32 posix _makeLong',
  'path/posix':
    'resolve normalize isAbsolute join relative toNamespacedPath dirname basename extname format parse matchesGlob win32 posix _makeLong',
  'path/win32':
    'resolve normalize isAbsolute join relative toNamespacedPath dirname basename extname format parse matchesGlob win32 posix _makeLong',
  perf_hooks:
    'Performance PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList PerformanceResourceTiming monitorEventLoopDelay eventLoopUtilization timerify createHistogram performance constants',
  process: '',
  punycode: 'ucs2 decode encode toASCII toUnicode',
  querystring: 'unescapeBuffer unescape escape stringify encode parse decode',
  stream:
    'isDestroyed isDisturbed isErrored isReadable isWritable Readable Writable Duplex Transform PassThrough duplexPair pipeline addAbortSignal finished destroy compose setDefaultHighWaterMark getDefaultHighWaterMark promises Stream _isArrayBufferView _isUint8Array _uint8ArrayToBuffer',
  'stream/consumers': 'arrayBuffer blob buffer bytes text json',
  'stream/promises': 'finished pipeline',
  'stream/web':
    'ReadableStream ReadableStreamTee ReadableStreamDefaultReader ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableByteStreamController ReadableStreamDefaultController TransformStream TransformStreamDefaultController WritableStream WritableStreamDefaultWriter WritableStreamDefaultController ByteLengthQueuingStrategy CountQueuingStrategy TextEncoderStream TextDecoderStream CompressionStream DecompressionStream',
  string_decoder: 'StringDecoder',
  timers: 'setTimeout clearTimeout setImmediate clearImmediate setInterval clearInterval promises',
  'timers/promises': 'setTimeout setImmediate setInterval scheduler',
  tls: 'getCiphers getCertificateCompressionAlgorithms rootCertificates setDefaultCACertificates convertALPNProtocols checkServerIdentity createSecureContext SecureContext TLSSocket Server createServer connect',
  tty: 'isatty',
  url: 'Url parse resolve resolveObject format URL URLPattern URLSearchParams domainToASCII domainToUnicode pathToFileURL fileURLToPath fileURLToPathBuffer urlToHttpOptions',
  util: '_errnoException _exceptionWithHostPort _extend callbackify convertProcessSignalToExitCode debug debuglog deprecate format styleText formatWithOptions getCallSites getSystemErrorMap getSystemErrorName getSystemErrorMessage inherits inspect isArray isDeepStrictEqual promisify stripVTControlCharacters toUSVString transferableAbortSignal transferableAbortController aborted types parseEnv parseArgs TextDecoder TextEncoder MIMEType MIMEParams diff',
  'util/types':
    'isArgumentsObject isArrayBuffer isAsyncFunction isBigIntObject isBooleanObject isDate isExternal isGeneratorFunction isGeneratorObject isMap isMapIterator isModuleNamespaceObject isNativeError isNumberObject isPromise isProxy isRegExp isSet isSetIterator isSharedArrayBuffer isStringObject isSymbolObject isWeakMap isWeakSet isAnyArrayBuffer isBoxedPrimitive isArrayBufferView isDataView isTypedArray isUint8Array isUint8ClampedArray isUint16Array isUint32Array isInt8Array isInt16Array isInt32Array isFloat16Array isFloat32Array isFloat64Array isBigInt64Array isBigUint64Array isKeyObject isCryptoKey',
  zlib: 'crc32 Deflate Inflate Gzip Gunzip DeflateRaw InflateRaw Unzip BrotliCompress BrotliDecompress ZstdCompress ZstdDecompress deflate deflateSync gzip gzipSync deflateRaw deflateRawSync unzip unzipSync inflate inflateSync gunzip gunzipSync inflateRaw inflateRawSync brotliCompress brotliCompressSync brotliDecompress brotliDecompressSync zstdCompress zstdCompressSync zstdDecompress zstdDecompressSync createDeflate createInflate createDeflateRaw createInflateRaw createGzip createGunzip createUnzip createBrotliCompress createBrotliDecompress createZstdCompress createZstdDecompress constants codes',
}

/**
 * The members of `process`. Those that begin with `_`, and `reallyExit`, are called by Node.js itself.
 * `stdout` and `stderr` write nowhere, and `getBuiltinModule` gives what the list above allows.
 */
export const PROCESS =
  'version versions arch platform release config features argv argv0 execArgv execPath title pid ppid env cwd uptime hrtime memoryUsage cpuUsage threadCpuUsage resourceUsage constrainedMemory availableMemory nextTick emitWarning exit exitCode reallyExit domain permission stdout stderr getBuiltinModule _events _eventsCount _maxListeners _exiting _fatalException _tickCallback'

/** The globals: those of the language, and those of the web. */
export const GLOBALS =
  'Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError globalThis JSON Math Intl ArrayBuffer Atomics Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array BigUint64Array BigInt64Array Uint8ClampedArray Float16Array Float32Array Float64Array DataView Map BigInt Set Iterator WeakMap WeakSet Proxy Reflect FinalizationRegistry WeakRef decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape eval isFinite isNaN SuppressedError DisposableStack AsyncDisposableStack SharedArrayBuffer WebAssembly console process global Buffer clearImmediate setImmediate URL URLSearchParams DOMException AbortController AbortSignal Event EventTarget CustomEvent TextEncoder TextDecoder TransformStream TransformStreamDefaultController WritableStream WritableStreamDefaultController WritableStreamDefaultWriter ReadableStream ReadableStreamDefaultReader ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableByteStreamController ReadableStreamDefaultController ByteLengthQueuingStrategy CountQueuingStrategy TextEncoderStream TextDecoderStream CompressionStream DecompressionStream clearInterval clearTimeout setInterval setTimeout queueMicrotask structuredClone atob btoa BroadcastChannel MessageChannel MessagePort Blob File Performance PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList PerformanceResourceTiming performance URLPattern fetch FormData Headers Request Response MessageEvent CloseEvent WebSocket crypto Crypto CryptoKey SubtleCrypto Navigator navigator'

/**
 * The key under which the wall hands the pipe to the service over to the runtime, which removes it before the
 * plugin is loaded.
 */
export const PIPE_KEY = Symbol.for('multichain-relayer.pipe')

/** The key under which the bundler tells the wall which modules of Node.js the bundle imports. */
export const IMPORTS_KEY = Symbol.for('multichain-relayer.imports')
