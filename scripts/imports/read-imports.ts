import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import ts from 'typescript'

/** One import, export-from or dynamic import. */
export interface Import {
  /** The importing file, relative to the root, with `/`. */
  readonly from: string
  /** The imported file relative to the root, or the name of a package (`@scope/name`, `node:fs`). */
  readonly to: string
  readonly kind: 'file' | 'package'
  /** Gone when the program runs: it can neither make a cycle nor load a package. */
  readonly typeOnly: boolean
  /** Line in `from`, counted from 1. */
  readonly line: number
}

/** Every import of every TypeScript file under `root`, in the order of the file names. */
export function readImports(root: string): Import[] {
  return sourceFiles(root).flatMap((file) => importsOf(root, file))
}

/** TypeScript files under `root`, relative to it, with `/`, sorted. */
export function sourceFiles(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.split(sep).join('/'))
    .sort()
}

function importsOf(root: string, from: string): Import[] {
  const path = join(root, from)
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ESNext, true)
  const found: Import[] = []
  const visit = (node: ts.Node): void => {
    const imported = readNode(node)
    if (imported) {
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1
      found.push({ from, line, typeOnly: imported.typeOnly, ...target(from, imported.specifier) })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function readNode(node: ts.Node): { specifier: string; typeOnly: boolean } | undefined {
  if (ts.isImportDeclaration(node)) return named(node.moduleSpecifier, isTypeImport(node))
  if (ts.isExportDeclaration(node)) return named(node.moduleSpecifier, isTypeExport(node))
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return named(node.arguments[0], false)
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
    return named(node.argument.literal, true)
  return undefined
}

function named(node: ts.Node | undefined, typeOnly: boolean) {
  return node && ts.isStringLiteral(node) ? { specifier: node.text, typeOnly } : undefined
}

/** `import type …`, and `import { type A, type B } …`, which leaves nothing behind either with nothing else in it. */
function isTypeImport({ importClause }: ts.ImportDeclaration): boolean {
  if (!importClause) return false
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  const { name, namedBindings } = importClause
  if (name || !namedBindings || !ts.isNamedImports(namedBindings)) return false
  return namedBindings.elements.length > 0 && namedBindings.elements.every((element) => element.isTypeOnly)
}

function isTypeExport({ isTypeOnly, exportClause }: ts.ExportDeclaration): boolean {
  if (isTypeOnly) return true
  return (
    !!exportClause &&
    ts.isNamedExports(exportClause) &&
    exportClause.elements.every((element) => element.isTypeOnly)
  )
}

function target(from: string, specifier: string): Pick<Import, 'to' | 'kind'> {
  if (specifier.startsWith('.')) {
    // A path relative to the root keeps its `..` when it leaves the root, e.g. `../generated/api.d.ts`.
    return {
      kind: 'file',
      to: relative('.', join(dirname(from), specifier))
        .split(sep)
        .join('/'),
    }
  }
  const parts = specifier.split('/')
  return {
    kind: 'package',
    to: specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier),
  }
}
