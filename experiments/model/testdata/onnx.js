// Runs an ONNX file on rows: node onnx.js MODULES MODEL INPUT OUTPUT SHAPE…
// INPUT holds float32 values, OUTPUT becomes a JSON object of all outputs and the names
// of the inputs.
const fs = require("fs");
const [modules, model, input, output, ...shape] = process.argv.slice(2);
const ort = require(require.resolve("onnxruntime-node", { paths: [modules] }));

async function main() {
  const session = await ort.InferenceSession.create(model);
  const values = new Float32Array(new Uint8Array(fs.readFileSync(input)).buffer);
  const results = await session.run({ input: new ort.Tensor("float32", values, shape.map(Number)) });
  const made = { inputs: session.inputNames };
  for (const [name, tensor] of Object.entries(results)) {
    made[name] = { shape: tensor.dims, values: Array.from(tensor.data) };
  }
  fs.writeFileSync(output, JSON.stringify(made));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
