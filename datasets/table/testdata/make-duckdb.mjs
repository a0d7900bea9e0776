// Writes the Parquet files of this folder that DuckDB makes:
// npm install @duckdb/node-api && node make-duckdb.mjs (1.5.6).

import { DuckDBInstance } from "@duckdb/node-api";

const connection = await (await DuckDBInstance.create(":memory:")).connect();
const folder = new URL(".", import.meta.url).pathname;
const copy = (query, name, options) => connection.run(`COPY (${query}) TO '${folder}${name}' (FORMAT parquet, ${options})`);

// 5,000 rows: row i has the values i, i/8, -i, the label of i mod 3, every seventh unknown, the id r<i>.
const rows = `SELECT i, CASE WHEN i % 7 = 6 THEN NULL ELSE ['ant', 'bee', 'cat'][i % 3 + 1] END AS label, 'r' || i AS id FROM range(5000) t(i)`;

await copy(`SELECT [i, i / 8, -i]::FLOAT[] AS features, label, id FROM (${rows})`, "duckdb-list-snappy.parquet", "COMPRESSION snappy, ROW_GROUP_SIZE 2048");
await copy(`SELECT [i, i / 8, -i]::DOUBLE[3] AS features, label, id FROM (${rows})`, "duckdb-array-zstd.parquet", "COMPRESSION zstd");
await copy(`SELECT id, i::INTEGER AS a, (i / 8)::DOUBLE AS b, (-i)::FLOAT AS c, label FROM (${rows})`, "duckdb-columns-zstd.parquet", "COMPRESSION zstd, PARQUET_VERSION v2");
await copy(`SELECT [1, 2]::FLOAT[] AS logits, 1 AS label UNION ALL SELECT [3, NULL]::FLOAT[], 0`, "duckdb-null-value.parquet", "COMPRESSION uncompressed");
await copy(`SELECT [1, 2]::FLOAT[] AS logits UNION ALL SELECT NULL`, "duckdb-null-row.parquet", "COMPRESSION uncompressed");
await copy(`SELECT [1, 2]::FLOAT[] AS logits UNION ALL SELECT [1, 2, 3]::FLOAT[]`, "duckdb-ragged.parquet", "COMPRESSION gzip");
await copy(`SELECT 0.25::FLOAT AS probability_cat, 0.75::FLOAT AS probability_dog, 'dog' AS label, 5 AS extra`, "duckdb-probabilities.parquet", "COMPRESSION snappy");
